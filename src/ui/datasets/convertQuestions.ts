import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import {
  type Columns,
  type ConvertAnswers,
  type ConvertError,
  type ConvertOptions,
  ENCODINGS,
  type Encoding,
} from '../../core/datasets/convert.ts';
import { inspectOrRefuse, datasetName } from '../shared/chooseDataset.ts';
import { mapEnd, pick, type PickRow, runSteps, type Step } from '../shared/steps.ts';
import { TERMS } from '../shared/terms.ts';
import { ENCODING_NAMES } from './convertTexts.ts';

const CHOSEN = 'fineTuning.convertColumns';
/** Headers whose columns are remembered. */
const MOST_CHOSEN = 50;

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
  const title = datasetName(uri);
  const found =
    code === 'needs-encoding'
      ? mapEnd(await pick({ title }, readings(choices)), (encoding): ConvertAnswers => ({ encoding }))
      : mapEnd(await pick({ title }, parts(choices)), (part): ConvertAnswers => ({ part }));
  return found.kind === 'value' ? found.value : 'cancelled';
}

function readings(samples: readonly string[]) {
  const regions: Readonly<Record<Encoding, string>> = {
    'windows-1252': vscode.l10n.t('Western European'),
    'windows-1250': vscode.l10n.t('Central European'),
    'windows-1251': vscode.l10n.t('Cyrillic'),
    gbk: vscode.l10n.t('Chinese'),
    shift_jis: vscode.l10n.t('Japanese'),
  };
  const items = ENCODINGS.map((value, at) => ({
    ...{ label: ENCODING_NAMES[value], description: regions[value], value },
    detail: samples[at]?.replaceAll('\n', ' ⏎ ') ?? '',
  }));
  // Nobody knows which one is right but the reader.
  return { placeholder: vscode.l10n.t('Which reads right?'), items, active: null };
}

function parts(names: readonly string[]) {
  return {
    placeholder: vscode.l10n.t('Which list has the rows?'),
    items: names.map((label) => ({ label, value: label })),
  };
}

/** Asks for the input of a batch, which has the requests. */
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
const LIKELY = {
  prompt:
    /^(?:prompt|question|instruction|input|user|human|query|request|text|frage|anweisung|eingabe|pregunta|entrada|pergunta|domanda|вопрос|запрос|问题|質問|問題)/i,
  answer:
    /^(?:completion|answer|output|response|assistant|reply|label|antwort|ausgabe|respuesta|salida|resposta|réponse|risposta|ответ|答案|回答)/i,
  system: /^system/i,
} as const;

/** The chosen columns by their places, as they are remembered; none: all are kept. */
type Places = readonly (number | undefined)[];

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
  const { [key]: _, ...others } = known;
  const kept = Object.entries(others).slice(1 - MOST_CHOSEN);
  await memory.update(CHOSEN, { ...Object.fromEntries(kept), [key]: chosen });
  const [prompt, answered, system] = chosen.map((place) => (place === undefined ? undefined : names[place]));
  if (prompt === undefined || answered === undefined) return { columns: 'all' };
  return { columns: { prompt, answer: answered, system } satisfies Columns };
}

function steps(names: readonly string[]): Step<Places>[] {
  const all = names.map((label, value): PickRow<number | undefined> => ({ label, value }));
  const ask =
    (at: number, placeholder: string, likely: RegExp, none?: string): Step<Places> =>
    async (state, place) => {
      const before = state.slice(0, at);
      if (before.length > 0 && before[0] === undefined) return { kind: 'value', value: state };
      const rows = all.filter(({ value }) => !before.includes(value));
      const isLikely = ({ label }: PickRow<unknown>) => likely.test(label.trim());
      const proposed = rows.find(isLikely)?.value ?? (at < 2 ? rows[0]?.value : undefined);
      const others = none === undefined ? [] : [{ label: none, value: undefined }];
      // A system message is optional.
      const items = at === 2 ? [...others, ...rows] : [...rows, ...others];
      const end = await pick(place, { placeholder, items, active: proposed });
      return mapEnd(end, (value): Places => [...before, value]);
    };
  const questions = [
    ask(0, vscode.l10n.t('Which column is the prompt?'), LIKELY.prompt, vscode.l10n.t('Keep all columns')),
    ask(1, vscode.l10n.t('Which is the answer?'), LIKELY.answer),
    ask(2, vscode.l10n.t('Which is the system message?'), LIKELY.system, vscode.l10n.t('None')),
  ];
  return questions.slice(0, names.length);
}
