import { Refusal } from './answer.ts';

/** A field of an input, as the JSON schema in package.json has it (a test compares them). */
type Field =
  | { readonly type: 'string'; readonly minLength: number; readonly maxLength: number }
  | { readonly type: 'string'; readonly enum: readonly string[] }
  | { readonly type: 'boolean' }
  | { readonly type: 'integer'; readonly minimum: number; readonly maximum: number };

export interface InputSchema {
  readonly properties: Readonly<Record<string, Field>>;
  readonly required: readonly string[];
}

type ValueOf<F extends Field> = F extends { type: 'boolean' }
  ? boolean
  : F extends { type: 'integer' }
    ? number
    : F extends { enum: readonly (infer Word)[] }
      ? Word
      : string;
type Properties<S extends InputSchema> = S['properties'];
/** What a tool gets: only fields of its schema, with values that fit. */
export type Input<S extends InputSchema> = {
  readonly [K in S['required'][number]]: ValueOf<Properties<S>[K]>;
} & { readonly [K in keyof Properties<S>]?: ValueOf<Properties<S>[K]> };

export const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength }) as const;
export const count = (minimum: number, maximum: number) => ({ type: 'integer', minimum, maximum }) as const;
export const FLAG = { type: 'boolean' } as const;
/** As long as the longest path of most systems. */
export const PATH = text(4_096);

/**
 * Rebuilds an input from the known fields. VS Code validates nothing: an input may have any type and size.
 * @throws Refusal
 */
export function parseInput<S extends InputSchema>({ properties, required }: S, given: unknown): Input<S> {
  if (typeof given !== 'object' || given === null)
    throw new Refusal('The input must be an object. Nothing was done. Call the tool again with one.');
  const input: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(properties)) {
    const value: unknown = Object.getOwnPropertyDescriptor(given, name)?.value;
    // Models write null for what they leave out.
    if ((value === undefined || value === null) && !required.includes(name)) continue;
    if (!fits(field, value))
      throw new Refusal(`"${name}" must be ${wanted(field)}. Nothing was done. Call the tool again with it.`);
    input[name] = value;
  }
  return input as Input<S>;
}

function fits(field: Field, value: unknown): boolean {
  if (field.type === 'boolean') return typeof value === 'boolean';
  if (field.type === 'integer')
    return Number.isInteger(value) && field.minimum <= Number(value) && Number(value) <= field.maximum;
  if (typeof value !== 'string') return false;
  return 'enum' in field
    ? field.enum.includes(value)
    : field.minLength <= value.length && value.length <= field.maxLength;
}

function wanted(field: Field): string {
  if (field.type === 'boolean') return 'true or false';
  if (field.type === 'integer') return `a whole number from ${field.minimum} to ${field.maximum}`;
  return 'enum' in field
    ? `one of: ${field.enum.join(', ')}`
    : `a text of ${field.minLength} to ${field.maxLength} characters`;
}
