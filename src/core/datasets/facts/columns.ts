import { isObject } from '../../base/json.ts';
import { ALIASES, COMPARED_FIELDS, FIELDS, HISTORY_FIELDS, SYSTEM_FIELD } from '../formats.ts';
import { rarerOf, type Fact } from './fact.ts';
import type { RowFields } from './textRow.ts';

/** Fields that the check or another fact judges. */
const JUDGED: ReadonlySet<string> = new Set([
  ...[...FIELDS, ...COMPARED_FIELDS, ...HISTORY_FIELDS, ...ALIASES.keys()],
  ...[SYSTEM_FIELD, 'tools', 'functions', 'input'],
]);
/** With more columns, the names are probably values. */
const MOST = 64;

/** A kind is the type and the name of a column: `text metadata.year`. */
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
