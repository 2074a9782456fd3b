import { randomInt } from 'node:crypto';
import { cutAtWholeCharacters } from '../base/plainText.ts';
import { MAX_LABEL_LENGTH } from '../api/types.ts';

/** Digits and letters that are not mistaken for each other (Crockford's base 32). */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 8;
/** With a letter: a date is no marker. */
const FORM = `ft-(?=\\d*[a-z])[${ALPHABET}]{${LENGTH}}`;
const MARKER = new RegExp(`^${FORM}$`);
const AT_END = new RegExp(`(?:^| )${FORM}$`);
const AT_START = new RegExp(`^${FORM}(?: |$)`);
/** No service cuts a label as short as this, however it counts. */
const UNCUT_BYTES = 64;

/** A short text that no other run's label holds, such as `ft-7k3m9qpx`: 40 random bits. */
export function newMarker(): string {
  const characters = Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length)));
  const marker = `ft-${characters.join('')}`;
  return MARKER.test(marker) ? marker : newMarker();
}

/**
 * The label as it is sent, within the service's 255: with the marker last, where it reads best, or first where the label is
 * so long that a service might cut it, perhaps by bytes.
 */
export function withMarker(label: string, marker: string): string {
  const text = cutAtWholeCharacters(label, MAX_LABEL_LENGTH - marker.length - 1).trimEnd();
  if (text === '') return marker;
  const last = `${text} ${marker}`;
  return Buffer.byteLength(last) <= UNCUT_BYTES ? last : `${marker} ${text}`;
}

/** A label as the user gave it. */
export function withoutMarker(label: string): string {
  return AT_START.test(label) ? label.replace(AT_START, '') : label.replace(AT_END, '');
}

/** Whether a label holds a marker, whatever the service did to its letters. */
export function hasMarker(label: string, marker: string): boolean {
  return folded(label).includes(marker);
}

/**
 * A text as it compares with another that the service may have normalized or changed the case of. Cut, since to normalize costs
 * the square of the length where accents are piled up.
 */
export function folded(text: string): string {
  return text
    .slice(0, 2 * MAX_LABEL_LENGTH)
    .normalize('NFKC')
    .toLowerCase();
}
