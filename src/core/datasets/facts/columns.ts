import { isObject } from '../../base/json.ts';
import { ALIASES, COMPARED_FIELDS, FIELDS, HISTORY_FIELDS, SYSTEM_FIELD } from '../formats.ts';
import { rarerOf, type Fact } from './fact.ts';
import type { RowFields } from './textRow.ts';

/** Judged by the check, or by facts of their own. */
const JUDGED: ReadonlySet<string> = new Set([
  ...[...FIELDS, ...COMPARED_FIELDS, ...HISTORY_FIELDS, ...ALIASES.keys()],
  ...[SYSTEM_FIELD, 'tools', 'functions', 'input'],
]);
/** More columns are those of data whose names are values. */
const MOST = 64;

/** A kind is a type and a column: `text metadata.year`. */
export const columns: Readonly<Fact> = {
  name: 'columns',
  kindsOf: ({ fields }) => typesOf(fields, (name) => !JUDGED.has(name)),
  shown(counts) {
    const byColumn = Map.groupBy(Object.keys(counts), (kind) => kind.slice(kind.indexOf(' ')));
    return [...byColumn.values()].flatMap((kinds) => rarerOf(counts, kinds));
  },
};

function typesOf(fields: RowFields, isAsked: (name: string) => boolean, above = ''): string[] {
  const kinds: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || kinds.length >= MOST || !isAsked(name)) continue;
    const type = typeof value === 'string' ? 'text' : Array.isArray(value) ? 'list' : typeof value;
    kinds.push(`${type} ${above}${name}`);
    if (above === '' && isObject(value)) kinds.push(...typesOf(value, () => true, `${name}.`));
  }
  return kinds;
}
