// The facts, the most harmful first. A new fact is a file in this folder, a line here, and a sentence in `ui/datasets/findingTexts.ts`.
import { boilerplate } from './boilerplate.ts';
import { columns } from './columns.ts';
import { controls } from './controls.ts';
import { cutAnswers } from './cutAnswers.ts';
import { emptyWords } from './emptyWords.ts';
import { entities } from './entities.ts';
import { escapedTwice } from './escapedTwice.ts';
import type { Fact, FactName, Finding } from './fact.ts';
import { messagesInText } from './messagesInText.ts';
import { mojibake } from './mojibake.ts';
import { openFences } from './openFences.ts';
import { refusals } from './refusals.ts';
import { replacement } from './replacement.ts';
import { templateMarks } from './templateMarks.ts';
import type { TextRow } from './textRow.ts';
import { thinking } from './thinking.ts';
import { toolArguments } from './toolArguments.ts';
import { tools } from './tools.ts';
import { withoutSystem } from './withoutSystem.ts';

export const FACTS: readonly Fact[] = [
  ...[templateMarks, messagesInText, emptyWords, escapedTwice, entities, mojibake, controls, replacement],
  ...[openFences, cutAnswers, boilerplate, thinking, toolArguments, tools, columns],
  ...[withoutSystem, refusals],
];
export function isFactName(name: string): name is FactName {
  return FACTS.some((fact) => fact.name === name);
}

/** Facts that describe a dataset. They aren't faults. */
const DESCRIBING: readonly FactName[] = [withoutSystem.name, refusals.name];

/** Returns the findings that may be faults. */
export function findingsToRead(found: readonly Finding[]): Finding[] {
  return found.filter(({ name }) => !DESCRIBING.includes(name));
}

/** Whether a row is one of the rows of a finding. */
export function isOfFinding({ name, kinds }: Pick<Finding, 'name' | 'kinds'>, row: TextRow): boolean {
  const fact = FACTS.find((one) => one.name === name);
  return fact?.kindsOf(row).some((kind) => Object.hasOwn(kinds, kind)) === true;
}
