import assert from 'node:assert/strict';

/** Parses a CSV text strictly by RFC 4180, with the names in its first row as keys. */
export function rowsOfCsv(text: string): Record<string, string>[] {
  const rows: string[][] = [];
  let fields: string[] = [];
  let length = 0;
  for (const [all, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    length += all.length;
    fields.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === ',') continue;
    rows.push(fields);
    fields = [];
  }
  assert.equal(length, text.length, 'nothing is left over');
  const [names = [], ...others] = rows;
  for (const row of others) assert.equal(row.length, names.length);
  return others.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? ''])));
}
