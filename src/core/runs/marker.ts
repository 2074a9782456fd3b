import { randomInt } from 'node:crypto';
import { MAX_LABEL_LENGTH } from '../api/types.ts';
import { cutAtWholeCharacters, foldText } from '../base/plainText.ts';

/** Digits and letters without look-alikes (Crockford's base 32). */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 8;
/** Requires a letter, so that a date is not a marker. */
const FORM = `ft-(?=\\d*[a-z])[${ALPHABET}]{${LENGTH}}`;
const MARKER = new RegExp(`^${FORM}$`);
const LAST_WORD = new RegExp(`(?:^|\\s)(${FORM})\\s*$`);
const FIRST_WORD = new RegExp(`^\\s*(${FORM})(?:\\s|$)`);
/** A length that no service is expected to truncate, in bytes or in characters. */
const UNCUT_BYTES = 64;

/** Returns a short text to identify a run by its label, such as `ft-7k3m9qpx`: 40 random bits. */
export function newMarker(): string {
  const characters = Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length)));
  const marker = `ft-${characters.join('')}`;
  return MARKER.test(marker) ? marker : newMarker();
}

/**
 * Returns the label to send, within the service's 255 characters. Removes other markers: a copied one would name
 * another submission's run. The marker comes last, where it reads best. In a long label it comes first, since a service
 * might truncate the label, perhaps by bytes.
 */
export function withMarker(label: string, marker: string): string {
  // Cutting a word may leave a marker, so markers are taken out afterwards.
  const text = withoutMarker(cutAtWholeCharacters(label, MAX_LABEL_LENGTH - marker.length - 1)).trimEnd();
  if (text === '') return marker;
  const last = `${text} ${marker}`;
  return Buffer.byteLength(last) <= UNCUT_BYTES ? last : `${marker} ${text}`;
}

/**
 * Removes the words that are markers from a label, even if nothing is left. Returns a label without any unchanged.
 */
export function withoutMarker(label: string): string {
  if (!foldText(label).includes('ft-')) return label;
  // Each word with the blanks before it.
  const words = label.split(/(?<=\S)(?=\s)/u);
  const others = words.filter((word) => !MARKER.test(foldText(word.trim())));
  return others.length === words.length ? label : others.join('').trim();
}

/** Returns a run's label as the user entered it; undefined if it is unknown or empty. */
export function userLabel(label: string | undefined): string | undefined {
  return withoutMarker(label ?? '') || undefined;
}

/** Whether this is the marker of a label: see `markerOf`. */
export function hasMarker(label: string, marker: string): boolean {
  return markerOf(label) === marker;
}

/** Whether a label contains this marker in any form and place, even if the service changed the label. */
export function mayHaveMarker(label: string, marker: string): boolean {
  return foldText(label).includes(marker);
}

/**
 * Returns the marker of a label: its last word, else its first, in any case or Unicode form. Undefined if there is none.
 * A marker anywhere else was copied from another label.
 */
export function markerOf(label: string): string | undefined {
  const text = foldText(label);
  return (LAST_WORD.exec(text) ?? FIRST_WORD.exec(text))?.[1];
}
