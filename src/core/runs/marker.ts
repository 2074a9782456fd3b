import { randomInt } from 'node:crypto';
import { cutAtWholeCharacters, foldText } from '../base/plainText.ts';
import { MAX_LABEL_LENGTH } from '../api/types.ts';

/** Digits and letters without look-alikes (Crockford's base 32). */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 8;
/** Requires a letter, so that a date is not a marker. */
const FORM = `ft-(?=\\d*[a-z])[${ALPHABET}]{${LENGTH}}`;
const MARKER = new RegExp(`^${FORM}$`);
const ANYWHERE = new RegExp(FORM);
const AT_END = new RegExp(`(?:^| )${FORM}$`);
const AT_START = new RegExp(`^${FORM}(?: |$)`);
/** A length that no service is expected to truncate, in bytes or in characters. */
const UNCUT_BYTES = 64;

/** Returns a short text to identify a run by its label, such as `ft-7k3m9qpx`: 40 random bits. */
export function newMarker(): string {
  const characters = Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length)));
  const marker = `ft-${characters.join('')}`;
  return MARKER.test(marker) ? marker : newMarker();
}

/**
 * Returns the label to send, within the service's 255 characters. The marker comes last, where it reads best,
 * or first if the label is so long that a service might truncate it, perhaps by bytes.
 */
export function withMarker(label: string, marker: string): string {
  const text = cutAtWholeCharacters(label, MAX_LABEL_LENGTH - marker.length - 1).trimEnd();
  if (text === '') return marker;
  const last = `${text} ${marker}`;
  return Buffer.byteLength(last) <= UNCUT_BYTES ? last : `${marker} ${text}`;
}

/** Returns a label without its marker, even if nothing is left. */
export function withoutMarker(label: string): string {
  return AT_START.test(label) ? label.replace(AT_START, '') : label.replace(AT_END, '');
}

/** Returns a run's label as the user entered it; undefined if it is unknown or empty. */
export function userLabel(label: string | undefined): string | undefined {
  return withoutMarker(label ?? '') || undefined;
}

/** Whether a label has a marker where `withMarker` puts it, even if the service changed its case or normalized it. */
export function isMarkedLabel(label: string): boolean {
  const text = foldText(label);
  return withoutMarker(text) !== text;
}

/** Whether a label contains a marker, even if the service changed its case or normalized it. */
export function hasMarker(label: string, marker: string): boolean {
  return foldText(label).includes(marker);
}

/** Returns the marker of a label; undefined if it has none. */
export function markerOf(label: string): string | undefined {
  return ANYWHERE.exec(foldText(label))?.[0];
}
