import { randomInt } from 'node:crypto';
import { cutAtWholeCharacters } from '../../api/plainText.ts';
import { MAX_LABEL_LENGTH } from '../../api/types.ts';

/** Digits and letters that are not mistaken for each other (Crockford's base 32). */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 8;
/** With a letter: a date is no marker. */
const MARKER = new RegExp(`(?:^| )ft-(?=\\d*[a-z])[${ALPHABET}]{${LENGTH}}$`);

/** A short text that no other run's label holds, such as `ft-7k3m9qpx`: 40 random bits. */
export function newMarker(): string {
  const characters = Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length)));
  const marker = `ft-${characters.join('')}`;
  return MARKER.test(marker) ? marker : newMarker();
}

/** The label as it is sent: with the marker last, within the service's 255; a long label is cut before it. */
export function withMarker(label: string, marker: string): string {
  const start = cutAtWholeCharacters(label, MAX_LABEL_LENGTH - marker.length - 1).trimEnd();
  return start === '' ? marker : `${start} ${marker}`;
}

/** A label as the person gave it. */
export function withoutMarker(label: string): string {
  return label.replace(MARKER, '');
}
