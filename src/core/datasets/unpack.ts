import { ConvertError } from './convert.ts';
import { FIELDS } from './formats.ts';
import { hasFormat, isRow } from './otherForms.ts';
import { isFields, isRequestRow, type Fields } from './requestShapes.ts';

/**
 * Returns the rows in the only object of a file: of columns, or of a list; undefined if it is itself a row.
 * @param part the name of the list
 * @throws ConvertError `needs-part`
 */
export function rowsIn(object: Fields, part: string | undefined): unknown[] | undefined {
  if (isRow(object) || isRequestRow(object)) return undefined;
  const fields = Object.entries(object);
  const columns = fields.map(([name, one]) => [name, isList(one) ? Object.values(one) : []] as const);
  const [, { length }] = columns[0] ?? ['', []];
  // Lists of objects are columns only beside one of training.
  const areData = columns.every(([, values]) => !values.some(isList));
  const areColumns =
    areData || columns.some(([name, values]) => FIELDS.includes(name) && !values.some(isFields));
  if (areColumns && length > 0 && columns.every(([, values]) => values.length === length))
    return Array.from({ length }, (_, at) =>
      Object.fromEntries(columns.map(([name, values]) => [name, values[at]])),
    );
  if (hasFormat(object) && !Object.values(object).flat().some(isRow)) return undefined;
  const lists = fields.filter(([, one]) => Array.isArray(one) && one.some(isList)) as [string, unknown[]][];
  if (lists.length > 1 && part === undefined) {
    const choices = lists.map(([name]) => name);
    throw new ConvertError('needs-part', { choices });
  }
  return (lists.find(([name]) => name === part) ?? lists[0])?.[1];
}

/** Whether it is a list or an object. */
function isList(value: unknown): value is object {
  return Array.isArray(value) || isFields(value);
}
