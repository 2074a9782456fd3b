import assert from 'node:assert/strict';
import {
  hasMarker,
  markerOf,
  newMarker,
  withMarker,
  withoutMarker,
} from '../../../../src/core/runs/marker.ts';
import { Random } from '../../../helpers/random.ts';

const MARKER = 'ft-7k3m9qpx';
/** UTF-16 units left for the label, without the space before the marker. */
const ROOM = 255 - MARKER.length - 1;
const LONG = 'Ein Läbel, so lang, dass ein Dienst ihn kürzen könnte, ohne es zu sagen';

describe('newMarker', () => {
  it('returns a short, unique marker without look-alike characters that can be removed again', () => {
    const markers = Array.from({ length: 5000 }, newMarker);
    for (const marker of markers) {
      assert.match(marker, /^ft-[0-9a-hjkmnp-tv-z]{8}$/);
      for (const label of ['Läbel', LONG, ''])
        assert.equal(withoutMarker(withMarker(label, marker)), label, marker);
    }
    assert.equal(new Set(markers).size, markers.length);
    // 40 bits: every character of the alphabet occurs at every position.
    for (let place = 3; place < 11; place++)
      assert.equal(new Set(markers.map((marker) => marker[place])).size, 32);
  });
});

describe('withMarker', () => {
  it('puts the marker last after a space, or first in a label of more than 64 bytes', () => {
    const first = (text: string) => `${MARKER} ${text}`;
    const last = (text: string) => `${text} ${MARKER}`;
    for (const [label, expected] of [
      ['Läbel', last('Läbel')],
      ['Läbel  ', last('Läbel')],
      ['', MARKER],
      [' \t', MARKER],
      ['a'.repeat(52), last('a'.repeat(52))],
      ['a'.repeat(53), first('a'.repeat(53))],
      ['訓'.repeat(17), last('訓'.repeat(17))],
      ['訓'.repeat(18), first('訓'.repeat(18))],
      // A cut leaves no trailing spaces; a single character that is too long is dropped.
      [`${'a'.repeat(ROOM - 3)}   b`, first('a'.repeat(ROOM - 3))],
      [`e${'\u0301'.repeat(400)}`, MARKER],
    ] as const)
      assert.equal(withMarker(label, MARKER), expected);
  });

  it('truncates the label, never the marker, at a character boundary to fit 255 UTF-16 units', () => {
    for (const length of [ROOM - 1, ROOM, ROOM + 1, 254, 255, 256, 10_000]) {
      const label = withMarker('a'.repeat(length), MARKER);
      assert.equal(label, `${MARKER} ${'a'.repeat(Math.min(length, ROOM))}`);
      assert.ok(label.length <= 255);
    }
    // A surrogate pair, combining characters, a family, a flag, Devanagari.
    for (const character of ['😀', 'e\u0301\u0323', '👨‍👩‍👧‍👦', '🇪🇺', 'क्षि'])
      for (let before = ROOM - character.length - 1; before <= ROOM; before++) {
        const start = 'a'.repeat(before);
        const left = ROOM - before - character.length;
        const cut = left < 0 ? start : `${start}${character}${'b'.repeat(left)}`;
        assert.equal(withMarker(`${start}${character}${'b'.repeat(50)}`, MARKER), `${MARKER} ${cut}`);
      }
  });
});

describe('withoutMarker', () => {
  it('removes each word that is a marker, however it is written, with the blanks before it', () => {
    for (const [label, text] of [
      [`${MARKER} Läbel`, 'Läbel'],
      [`${MARKER} Läbel ft-00000abc`, 'Läbel'],
      [`Läbel ${MARKER}`, 'Läbel'],
      [`Läbel ft-00000001 ${MARKER}`, 'Läbel ft-00000001'],
      [`a ${MARKER}  b\tft-00000abc\u00a0c`, 'a  b\u00a0c'],
      [MARKER, ''],
      [` ${MARKER}\n`, ''],
      [`a  ${MARKER}`, 'a'],
      ['Läbel FT-7K3M9QPX', 'Läbel'],
      ['ｆｔ-７k3m9qpx Läbel', 'Läbel'],
    ] as const)
      assert.equal(withoutMarker(label), text);
  });

  it('leaves other text unchanged', () => {
    for (const text of [
      ...['', 'Läbel', ' a  b\t', `${MARKER}-Läbel`, `(${MARKER}) Läbel`],
      ...['draft-research', 'shift-testdata', ' drift-8b  left-testdata '],
      ...['Läbel ft-7k3m9qp', 'Läbel ft-7k3m9qpxx', 'Läbel ft_7k3m9qpx'],
      // The alphabet has no i, l, o, or u.
      ...['i', 'l', 'o', 'u'].map((letter) => `Läbel ft-7k3m9qp${letter}`),
      // Dates, and parts of words.
      ...['ft-20261121', 'Läbel ft-20261121', 'draft-7k3m9qpx', 'Geschäft-7k3m9qpx', 'left-ft-7k3m9qpx'],
    ])
      assert.equal(withoutMarker(text), text);
  });
});

describe('hasMarker', () => {
  it('finds the marker whatever the service did to its letters and to the blanks around the label', () => {
    for (const label of [MARKER, 'FT-7K3M9QPX LÄBEL', 'ｆｔ-７k3m9qpx', ` Läbel\u00a0${MARKER}\n`])
      assert.ok(hasMarker(label, MARKER), label);
    assert.ok(!hasMarker('Läbel ft-7k3m9qp', MARKER));
  });

  it('counts a marker only as the last word, else as the first', () => {
    for (const label of [
      ...[`Läbel ${MARKER} ft-00000abc`, `${MARKER} Läbel ft-00000abc`, `Läbel ${MARKER} x`],
      ...[`läbel-${MARKER}`, `${MARKER}-läbel`, `ft-00000abc Läbel ${MARKER} x`],
    ])
      assert.ok(!hasMarker(label, MARKER), label);
    assert.equal(markerOf(`${MARKER} Läbel ft-00000abc`), 'ft-00000abc');
    assert.equal(markerOf(`${MARKER} Läbel ft-20261121`), MARKER);
  });
});

describe('a label that was typed', () => {
  it('is sent with one marker, ours, and as it was typed except for words that are markers', () => {
    const random = new Random(36);
    const others = [
      'l01',
      'draft-research',
      'shift-testdata',
      'ft-20261121',
      'Läbel',
      '訓練',
      '😀',
      'ft-',
      '.',
    ];
    const written = [
      (marker: string) => marker,
      (marker: string) => marker.toUpperCase(),
      (marker: string) => marker.replace('ft', 'ｆｔ'),
    ];
    for (let times = 0; times < 5_000; times++) {
      const words = random.several(12, () =>
        random.chance(0.4) ? random.of(written)(newMarker()) : random.of(others),
      );
      const blank = random.of([' ', ' ', '\u00a0', '\t', '  ']);
      const sent = withMarker(words.join(blank), MARKER);
      assert.equal(markerOf(sent), MARKER, sent);
      assert.equal(withoutMarker(sent), words.filter((word) => others.includes(word)).join(blank), sent);
      const plain = words.filter((word) => others.includes(word)).join(blank);
      assert.equal(withoutMarker(plain), plain);
    }
  });

  it('is sent with our marker alone even if its cut end reads like one', () => {
    const start = 'a'.repeat(ROOM - MARKER.length - 1);
    const sent = withMarker(`${start} ft-00000abcde`, MARKER);
    assert.deepEqual([sent, markerOf(sent)], [`${MARKER} ${start}`, MARKER]);
  });
});
