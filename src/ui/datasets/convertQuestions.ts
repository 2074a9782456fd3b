import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import {
  type ConvertAnswers,
  type ConvertError,
  type ConvertOptions,
  ENCODINGS,
} from '../../core/datasets/convert.ts';
import { inspectOrRefuse, datasetName } from '../shared/chooseDataset.ts';
import { mapEnd, pick, runSteps, type Step } from '../shared/steps.ts';
import { TERMS } from '../shared/terms.ts';
import { ENCODING_TEXTS } from './convertTexts.ts';

const CHOSEN = 'fineTuning.convertColumns';

type Answer = ConvertOptions | 'cancelled' | 'failed';

/** Asks what a conversion needs to know. @param memory has the columns that were chosen before */
export async function answer(
  { code, choices }: ConvertError,
  uri: vscode.Uri,
  memory: vscode.Memento,
  asksAgain: boolean,
): Promise<Answer> {
  if (code === 'needs-input') return chooseInput(uri);
  if (code === 'needs-columns') return chooseColumns(choices, uri, memory, asksAgain);
  const question = code === 'needs-encoding' ? readings(choices) : parts(choices);
  const end = await pick<ConvertAnswers>({ title: datasetName(uri) }, question);
  return end.kind === 'value' ? end.value : 'cancelled';
}

function readings(samples: readonly string[]) {
  const items = ENCODINGS.map((encoding, at) => {
    const [label, use] = ENCODING_TEXTS[encoding];
    const same = ENCODINGS.find((_, other) => other < at && samples[other] === samples[at]);
    const description = same ? vscode.l10n.t('{0}, same text as {1}', use, ENCODING_TEXTS[same][0]) : use;
    const detail = samples[at]?.replaceAll('\n', ' ⏎ ') ?? '';
    return { label, description, detail, value: { encoding } };
  });
  // Only a reader can tell which one is right.
  return { placeholder: vscode.l10n.t('Which one looks right?'), items, active: null };
}

function parts(names: readonly string[]) {
  const items = names.map((part) => ({ label: part, value: { part } }));
  return { placeholder: vscode.l10n.t('Which array has the rows?'), items };
}

/** Asks for a batch's input file, which has the requests. */
async function chooseInput(output: vscode.Uri): Promise<Answer> {
  const [folder, name] = [path.dirname(output.fsPath), path.basename(output.fsPath)];
  const beside = path.join(folder, name.replace(/output|results?/i, 'input'));
  const isThere = beside !== output.fsPath && (await stat(beside).catch(() => undefined)) !== undefined;
  const [chosen] =
    (await vscode.window.showOpenDialog({
      title: vscode.l10n.t('Choose the batch’s input file'),
      openLabel: vscode.l10n.t('Use as Input'),
      defaultUri: vscode.Uri.file(isThere ? beside : folder),
      filters: { JSONL: ['jsonl', 'ndjson'], [TERMS.allFiles]: ['*'] },
    })) ?? [];
  const batchInput = chosen && (await inspectOrRefuse(chosen));
  return chosen === undefined ? 'cancelled' : batchInput === undefined ? 'failed' : { batchInput };
}

/** Names that columns often have. */
const PROMPTS =
  /^(?:prompt|question|instruction|input|user|human|query|request|text|frage|anweisung|eingabe|pregunta|entrada|pergunta|domanda|вопрос|запрос|问题|質問|問題)/i;
const ANSWERS =
  /^(?:completion|answer|output|response|assistant|reply|label|antwort|ausgabe|respuesta|salida|resposta|réponse|risposta|ответ|答案|回答)/i;

/** The indices of the chosen columns, as they are stored. */
type Places = readonly number[];
/** Chosen as the prompt: the columns stay as they are. */
const NONE = -1;

async function chooseColumns(
  names: readonly string[],
  uri: vscode.Uri,
  memory: vscode.Memento,
  asksAgain: boolean,
): Promise<Answer> {
  const key = createHash('sha256').update(JSON.stringify(names)).digest('base64');
  const known = memory.get<Readonly<Record<string, Places>>>(CHOSEN, {});
  const chosen = (asksAgain ? undefined : known[key]) ?? (await runSteps(datasetName(uri), steps(names), []));
  if (chosen === undefined) return 'cancelled';
  await memory.update(CHOSEN, { ...known, [key]: chosen });
  const [prompt, answered, system] = chosen.map((place) => names[place]);
  return {
    columns: prompt === undefined || answered === undefined ? 'all' : { prompt, answer: answered, system },
  };
}

function steps(names: readonly string[]): Step<Places>[] {
  const columns = names.map((label, value) => ({ label, value }));
  const ask =
    (at: number, placeholder: string, likely: RegExp, none?: string): Step<Places> =>
    async (state, place) => {
      const before = state.slice(0, at);
      if (before.includes(NONE)) return { kind: 'value', value: before };
      const others = none === undefined ? [] : [{ label: none, value: NONE }];
      const items = [...columns.filter(({ value }) => !before.includes(value)), ...others];
      const proposed = items.find(({ label }) => likely.test(label.trim())) ?? items.at(at === 2 ? -1 : 0);
      const end = await pick(place, { placeholder, items, active: proposed?.value ?? NONE });
      return mapEnd(end, (value) => [...before, value]);
    };
  const keep = vscode.l10n.t('Keep the columns as they are');
  const questions = [
    ask(0, vscode.l10n.t('Which column is the prompt?'), PROMPTS, keep),
    ask(1, vscode.l10n.t('Which is the answer?'), ANSWERS),
    // A system message is optional.
    ask(2, vscode.l10n.t('Which is the system message?'), /^system/i, vscode.l10n.t('None')),
  ];
  return questions.slice(0, names.length);
}
