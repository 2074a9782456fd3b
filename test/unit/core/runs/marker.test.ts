import assert from 'node:assert/strict';
import { hasMarker, newMarker, withMarker, withoutMarker } from '../../../../src/core/runs/marker.ts';

const MARKER = 'ft-7k3m9qpx';
/** What is left of 255 for a label and its blank. */
const ROOM = 255 - MARKER.length - 1;

const LONG = 'Ein Läbel, so lang, dass ein Dienst ihn kürzen könnte, ohne es zu sagen';

describe('newMarker', () => {
  it('is short, plain, without characters that look like others, and never the same', () => {
    const markers = Array.from({ length: 5000 }, newMarker);
    for (const marker of markers) assert.match(marker, /^ft-[0-9a-hjkmnp-tv-z]{8}$/);
    assert.equal(new Set(markers).size, markers.length);
    // Forty bits: every character of the alphabet stands at every place.
    for (let place = 3; place < 11; place++)
      assert.equal(new Set(markers.map((marker) => marker[place])).size, 32);
  });

  it('is taken off again, whatever it is', () => {
    for (let turn = 0; turn < 2000; turn++) {
      const marker = newMarker();
      assert.equal(withoutMarker(withMarker('Läbel', marker)), 'Läbel', marker);
      assert.equal(withoutMarker(withMarker(LONG, marker)), LONG, marker);
      assert.equal(withoutMarker(withMarker('', marker)), '', marker);
    }
  });
});

describe('withMarker', () => {
  it('puts the marker last in a short label, after a blank, or alone', () => {
    assert.equal(withMarker('Läbel', MARKER), `Läbel ${MARKER}`);
    assert.equal(withMarker('', MARKER), MARKER);
    assert.equal(withMarker(' \t', MARKER), MARKER);
    assert.equal(withMarker('Läbel  ', MARKER), `Läbel ${MARKER}`);
  });

  it('puts the marker first in a label of more than 64 bytes, however few characters', () => {
    assert.equal(withMarker('a'.repeat(52), MARKER), `${'a'.repeat(52)} ${MARKER}`);
    assert.equal(withMarker('a'.repeat(53), MARKER), `${MARKER} ${'a'.repeat(53)}`);
    assert.equal(withMarker('訓'.repeat(17), MARKER), `${'訓'.repeat(17)} ${MARKER}`);
    assert.equal(withMarker('訓'.repeat(18), MARKER), `${MARKER} ${'訓'.repeat(18)}`);
  });

  it('stays within 255 UTF-16 units by cutting the label, never the marker', () => {
    for (const length of [ROOM - 1, ROOM, ROOM + 1, 254, 255, 256, 10_000]) {
      const label = withMarker('a'.repeat(length), MARKER);
      assert.equal(label, `${MARKER} ${'a'.repeat(Math.min(length, ROOM))}`);
      assert.ok(label.length <= 255);
    }
    assert.equal(withMarker('a'.repeat(ROOM), MARKER).length, 255);
  });

  it('leaves no blank that the cut bared', () => {
    assert.equal(withMarker(`${'a'.repeat(ROOM - 3)}   b`, MARKER), `${MARKER} ${'a'.repeat(ROOM - 3)}`);
  });

  for (const [name, character] of [
    ['a surrogate pair', '😀'],
    ['a combining character', 'e\u0301\u0323'],
    ['a family', '👨‍👩‍👧‍👦'],
    ['a flag', '🇪🇺'],
    ['Devanagari', 'क्षि'],
  ] as const)
    it(`cuts before ${name} that does not fit, never inside`, () => {
      for (let before = ROOM - character.length - 1; before <= ROOM; before++) {
        const start = 'a'.repeat(before);
        const fits = before + character.length <= ROOM;
        assert.equal(
          withMarker(`${start}${character}${'b'.repeat(50)}`, MARKER),
          fits
            ? `${MARKER} ${start}${character}${'b'.repeat(ROOM - before - character.length)}`
            : `${MARKER} ${start}`,
        );
      }
      assert.equal(withMarker(`${'a'.repeat(ROOM - character.length)}${character}`, MARKER).length, 255);
    });

  it('gives up a label that is one endless character', () => {
    assert.equal(withMarker(`e${'\u0301'.repeat(400)}`, MARKER), MARKER);
  });
});

describe('withoutMarker', () => {
  it('takes off the marker at the start', () => {
    assert.equal(withoutMarker(`${MARKER} Läbel`), 'Läbel');
    assert.equal(withoutMarker(`${MARKER} Läbel ft-00000001`), 'Läbel ft-00000001');
    assert.equal(withoutMarker(`${MARKER} Läbel ft-00000abc`), 'Läbel ft-00000abc');
  });

  it('takes off the marker at the end, and only that one', () => {
    assert.equal(withoutMarker(`Läbel ${MARKER}`), 'Läbel');
    assert.equal(withoutMarker(`Läbel ft-00000001 ${MARKER}`), 'Läbel ft-00000001');
    assert.equal(withoutMarker(MARKER), '');
    assert.equal(withoutMarker(`a  ${MARKER}`), 'a ');
  });

  for (const text of [
    '',
    'Läbel',
    ` ${MARKER} Läbel`,
    `${MARKER}-Läbel`,
    `Läbel ${MARKER} `,
    `Läbel ${MARKER}\n`,
    'Läbel ft-7k3m9qp',
    'Läbel ft-7k3m9qpxx',
    'Läbel FT-7K3M9QPX',
    // i, l, o and u are no characters of ours.
    'Läbel ft-7k3m9qpi',
    'Läbel ft-7k3m9qpl',
    'Läbel ft-7k3m9qpo',
    'Läbel ft-7k3m9qpu',
    'Läbel ft_7k3m9qpx',
    'draft-7k3m9qpx',
    // Dates of a fine-tuning.
    'ft-20261121',
    'Läbel ft-20261121',
    'Geschäft-7k3m9qpx',
    'left-ft-7k3m9qpx',
  ])
    it(`leaves ${JSON.stringify(text)} as it is`, () => assert.equal(withoutMarker(text), text));
});

describe('hasMarker', () => {
  it('finds it whatever the service did to the letters', () => {
    for (const label of [
      MARKER,
      `Läbel ${MARKER}`,
      'FT-7K3M9QPX LÄBEL',
      'ｆｔ-７k3m9qpx',
      `läbel-${MARKER}-x`,
    ])
      assert.ok(hasMarker(label, MARKER), label);
    assert.ok(!hasMarker('Läbel ft-7k3m9qp', MARKER));
  });
});
