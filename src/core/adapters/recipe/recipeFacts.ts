import type { AdapterReport, TrapCode } from '../report.ts';
import type { Shells } from './shells.ts';

/** What a person has to put in the place of a base model that is not known. */
export const BASE_MODEL = 'BASE_MODEL';

/** What all recipes need to know. */
export interface RecipeFacts {
  report: AdapterReport;
  folder: string;
  /** What the adapter is called: letters, digits, dots, hyphens and underscores. */
  name: string;
  /** A name of a hub, or `BASE_MODEL`. */
  base: string;
  isBaseKnown: boolean;
  /** Of the base. */
  revision: string | undefined;
  shells: Shells;
}

/** The base model in a block's text, to be replaced where it is not known. */
export function placeholdersOf({ isBaseKnown }: RecipeFacts, ...others: string[]): string[] {
  return isBaseKnown ? others : [BASE_MODEL, ...others];
}

export function baseTraps({ isBaseKnown }: RecipeFacts): TrapCode[] {
  return isBaseKnown ? ['same-base', 'base-gated'] : ['base-unknown', 'same-base', 'base-gated'];
}
