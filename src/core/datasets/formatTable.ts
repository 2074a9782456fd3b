import { ALIASES, COMPARED_FIELDS, FIELDS, MESSAGE_FIELDS, ROLES } from './formats.ts';
import { HISTORY_FIELDS, SPEAKERS, SYSTEM_FIELD, TRAINING_FORMATS } from './formats.ts';
import { PROBLEMS, type ProblemCode } from './problems.ts';
import { MAX_FIELDS, MAX_FORMATS, MAX_PARTS, MAX_SPEAKERS } from './scanner/codes.ts';

const FORMAT_NUMBERS = 17;
const KIND_NUMBERS = 12;
const NAME_BYTES = 24;
const NAMES: readonly string[] = [
  ...new Set([...FIELDS, ...COMPARED_FIELDS, SYSTEM_FIELD, ...HISTORY_FIELDS]),
];

function aliasesOf(field: string): string[] {
  return [...ALIASES].flatMap(([alias, of]) => (of === field ? alias : []));
}

/** The number of a field, from 1; 0 for none. */
const numberOf = (field = ''): number => NAMES.indexOf(field) + 1;
const bitsOf = (...fields: readonly string[]): number =>
  fields.reduce((bits, field) => bits | (1 << numberOf(field)), 0);
const codeOf = (problem: ProblemCode | undefined): number => PROBLEMS.findIndex(([code]) => code === problem);

/** Encodes the formats for the scanner (`scanner/formats.ts`): kinds of fields, formats, names of fields, and of speakers. */
export function encodeFormats(): Uint8Array {
  if (TRAINING_FORMATS.length >= MAX_FORMATS) throw new RangeError('too many formats for the scanner');
  const fieldsIf = (isOf: (format: (typeof TRAINING_FORMATS)[number]) => unknown) =>
    TRAINING_FORMATS.filter(isOf).flatMap(({ fields }) => fields);
  const numbers = new Uint32Array(KIND_NUMBERS + MAX_FORMATS * FORMAT_NUMBERS);
  numbers.set([
    bitsOf(...fieldsIf(({ turns }) => turns)),
    bitsOf(...fieldsIf(({ hasStrings }) => hasStrings)),
    bitsOf(...fieldsIf(({ hasLists }) => hasLists)),
    bitsOf(...fieldsIf(({ compared }) => compared), ...TRAINING_FORMATS.flatMap(({ answer = [] }) => answer)),
    bitsOf(...TRAINING_FORMATS.flatMap(({ optional }) => optional ?? [])),
    bitsOf(...fieldsIf(({ compared }) => compared)),
    bitsOf(...COMPARED_FIELDS),
    bitsOf(
      ...TRAINING_FORMATS.flatMap(({ wrapped, fields, prompt = [] }) =>
        wrapped === undefined ? [] : [...fields, ...prompt, wrapped.input],
      ),
    ),
    ...TRAINING_FORMATS.flatMap(({ wrapped, prompt }) =>
      wrapped === undefined ? [] : [numberOf(wrapped.input), numberOf(prompt?.[0])],
    ),
    numberOf(SYSTEM_FIELD),
    numberOf(HISTORY_FIELDS[0]),
  ]);
  for (const [index, format] of TRAINING_FORMATS.entries()) {
    const { fields, orBoth = [], turns, prompt = [], optional, answer = [], further = [] } = format;
    const compared = format.compared && fields;
    const noted = [...prompt.slice(0, 1), ...further, ...(compared ?? [])];
    const texts = [...prompt, ...further, ...(compared ?? []), ...(turns ? fields : [])];
    numbers.set(
      [
        ...[
          format.number,
          bitsOf(...fields),
          bitsOf(...orBoth),
          turns ? bitsOf(...fields) : 0,
          codeOf(turns),
        ],
        prompt.reduceRight((packed, field) => (packed << 8) | numberOf(field), 0),
        ...[numberOf((compared ?? prompt)[0]), numberOf(compared?.[1])],
        ...[numberOf(answer[0]), numberOf(answer[1])],
        ...[codeOf(format.missing?.[0]), codeOf(format.missing?.[1])],
        ...[bitsOf(...texts), bitsOf(...noted), optional === undefined ? 0 : bitsOf(optional)],
        Number(format.isCommon ?? false),
        numberOf(format.history),
      ],
      KIND_NUMBERS + index * FORMAT_NUMBERS,
    );
  }
  const roles = [...ROLES, 'call', 'pretrain'];
  const speakers = SPEAKERS.flatMap(([speaker, own, ofShareGpt]) => [
    ...own.map((name): Name => [name, roles.indexOf(speaker)]),
    ...ofShareGpt.map((name): Name => [name, roles.indexOf(speaker), 1]),
  ]);
  return Buffer.concat([
    Buffer.from(numbers.buffer),
    encodeNames(numbered(NAMES.map((name) => [name, ...aliasesOf(name)])), MAX_FIELDS),
    encodeNames(numbered(MESSAGE_FIELDS), MAX_PARTS),
    encodeNames(speakers, MAX_SPEAKERS),
  ]);
}

type Name = readonly [name: string, ...numbers: number[]];

function numbered(groups: readonly (readonly string[])[]): Name[] {
  return groups.flatMap((names, index) => names.map((name): Name => [name, index + 1]));
}

/** Encodes names as a hash table with linear probing. An entry has the length, up to two numbers, and the first and last eight bytes. */
function encodeNames(names: readonly Name[], slots: number): Uint8Array {
  if (names.length >= slots) throw new RangeError('too many names for the scanner');
  const bytes = Buffer.alloc(slots * NAME_BYTES);
  for (const [name, ...numbers] of names) {
    const start = Buffer.from(name.slice(0, 8).padEnd(8, '\0'), 'latin1');
    let slot = Math.imul(start.readUInt32LE() + name.length, 0x9e3779b1) >>> 16;
    while (bytes[(slot % slots) * NAME_BYTES] !== 0) slot++;
    const at = (slot % slots) * NAME_BYTES;
    bytes.set([name.length, ...numbers], at);
    bytes.set(start, at + 8);
    if (name.length > 8) bytes.write(name.slice(-8), at + 16, 'latin1');
  }
  return bytes;
}
