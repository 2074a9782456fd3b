import path from 'node:path';
import { commands, l10n, Uri, type WebviewPanel } from 'vscode';
import type { AnswerRow } from '../../core/answers/answersFile.ts';
import { lineInHoldOut } from '../../core/answers/filesBeside.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { datasetName, openDataset } from '../shared/chooseDataset.ts';
import { notOnDisk } from '../shared/datasetTexts.ts';
import { compact } from '../shared/format.ts';
import { COMMANDS, PANELS } from '../shared/ids.ts';
import { showError, showInformation } from '../shared/notifications.ts';
import {
  isCount,
  isOneOf,
  isRecord,
  isText,
  WebviewHost,
  WebviewPanels,
  type RequestTable,
} from '../shared/webview.ts';
import { answersRow } from './answerRows.ts';
import { AnswersDocument, type AnswersDocumentParts, type ShownAnswers } from './answersDocument.ts';
import { answersHead, answersWords, offeredFilters } from './answersView.ts';
import { trainedWord } from './leakText.ts';
import type { AnswersFilter, AnswersMemory, AnswersMessage, AnswersRequest, AnswersRow } from './protocol.ts';
import { sidesOf } from './sides.ts';
import { fileNameOf } from './trainedData.ts';

const FILTERS: readonly AnswersFilter[] = ['all', 'different', 'adapter', 'base', 'trained'];
const REQUESTS: Readonly<RequestTable<AnswersRequest>> = {
  need: { generation: isCount, from: isCount, count: isCount },
  filter: { filter: isOneOf(FILTERS) },
  showInHoldOut: { row: isCount },
  compareWithOther: {},
  chooseDataset: {},
};
/** Limits of one message; the page requests the rest again. Differences take milliseconds a row. */
const MESSAGE_UNITS = 500_000;
const MESSAGE_MS = 20;

export interface AnswersPageParts extends AnswersDocumentParts {
  extensionUri: Uri;
}

/** Creates the pages that compare answers, one for each file or pair of files. */
export function answersPanels(parts: AnswersPageParts): WebviewPanels<AnswersMemory, AnswersPage> {
  return new WebviewPanels<AnswersMemory, AnswersPage>({
    viewType: PANELS.answers,
    memoryOf: (state) => {
      if (!isRecord(state)) return undefined;
      const [file, other] = [state['file'], state['other']].map((one) =>
        isText(one) && path.isAbsolute(one) ? path.normalize(one) : undefined,
      );
      return file === undefined || (other === undefined && state['other'] !== undefined)
        ? undefined
        : { file, other };
    },
    keyOf: ({ file, other = '' }) => `${file}\0${other}`,
    create: (panel, memory) => new AnswersPage(memory, panel, parts),
  });
}

/** Owns the page of one file of answers, or of two: answers its requests, and posts what it shows. */
export class AnswersPage implements Disposable {
  readonly #memory: AnswersMemory;
  readonly #names: readonly string[];
  readonly #parts: AnswersPageParts;
  readonly #store = new DisposableStore();
  readonly #document: AnswersDocument;
  readonly #host: WebviewHost<AnswersMessage, AnswersRequest>;
  #filter: AnswersFilter = 'all';
  /** Indexes of the listed rows. */
  #listed: readonly number[] = [];
  #generation = 0;
  /** The version that was listed last. */
  #shown: ShownAnswers | undefined;
  /** Whether the file changed since the user's last action. */
  #hasChanged = false;

  constructor(memory: AnswersMemory, panel: WebviewPanel, parts: AnswersPageParts) {
    this.#memory = memory;
    const paths = compact(memory.file, memory.other);
    this.#names = paths.map(fileNameOf);
    this.#parts = parts;
    panel.title = l10n.t('Answers: {0}', sidesOf(this.#names).title);
    this.#document = this.#store.add(new AnswersDocument(paths, parts));
    this.#host = this.#store.add(
      new WebviewHost<AnswersMessage, AnswersRequest>(panel, {
        page: 'answers',
        extensionUri: parts.extensionUri,
        title: panel.title,
        requests: REQUESTS,
        onReady: () => {
          this.#host.post({ type: 'start', words: answersWords(), memory });
          this.#postHead();
          this.#postList(false);
        },
        onRequest: (request) => this.#answer(request),
        onShown: () => void this.#document.compareWithDisk(),
        log: parts.log,
      }),
    );
    this.#store.add(this.#document.onDidChange(() => this.#follow()));
  }

  dispose(): void {
    this.#store.dispose();
  }

  async #answer(request: AnswersRequest): Promise<void> {
    if (request.type === 'need') this.#postRows(request);
    else if (request.type === 'showInHoldOut') await this.#showInHoldOut(request.row);
    else if (request.type === 'chooseDataset') await this.#chooseDataset();
    else if (request.type === 'compareWithOther')
      await commands.executeCommand(COMMANDS.compareTwoAnswers, Uri.file(this.#memory.file));
    else this.#list(request.filter);
  }

  /** Lists the document's newest version. */
  #follow(): void {
    const { shown } = this.#document;
    const before = this.#shown;
    this.#shown = shown;
    if (shown !== before) {
      const isSame = shown !== undefined && shown.file.sha256 === before?.file.sha256;
      if (before !== undefined && !isSame) this.#hasChanged = true;
      if (shown !== undefined && !offeredFilters(shown).includes(this.#filter)) this.#filter = 'all';
      this.#select();
      this.#postList(before !== undefined);
    }
    this.#postHead();
  }

  #list(filter: AnswersFilter): void {
    [this.#filter, this.#hasChanged] = [filter, false];
    this.#select();
    this.#postHead();
    this.#postList(false);
  }

  #select(): void {
    const { file, scores, comparison, pairs } = this.#shown ?? {};
    const isListed = (index: number): boolean => {
      if (this.#filter === 'all') return true;
      if (this.#filter === 'different')
        return scores?.[index]?.isSame === false && comparison?.leads[index] !== 'trained';
      return comparison?.leads[index] === this.#filter;
    };
    const listed = Array.from(file?.rows.keys() ?? []).filter(isListed);
    // With two files, the rows that became worse come first.
    const isBehind = (index: number) => pairs !== undefined && comparison?.leads[index] === 'base';
    this.#listed = [...listed.filter(isBehind), ...listed.filter((index) => !isBehind(index))];
    this.#generation += 1;
  }

  #postList(keepsPosition: boolean): void {
    const { length } = this.#listed;
    this.#host.post({ type: 'list', generation: this.#generation, length, busy: false, keepsPosition });
  }

  #postRows({ generation, from, count }: AnswersRequest & { type: 'need' }): void {
    if (generation !== this.#generation) return;
    const endMs = performance.now() + MESSAGE_MS;
    const rows: AnswersRow[] = [];
    const { names } = sidesOf(this.#names, this.#shown?.runs);
    let units = 0;
    for (const index of this.#listed.slice(from, from + count)) {
      const row = this.#shown?.file.rows[index];
      if (row === undefined || (rows.length > 0 && (units > MESSAGE_UNITS || performance.now() > endMs)))
        break;
      units += unitsOf(row);
      rows.push(
        answersRow(row, this.#shown?.scores[index], {
          hasHoldOut: this.#shown?.holdOut !== undefined,
          note: this.#shown?.trained.has(index) === true ? trainedWord(this.#shown) : undefined,
          names,
        }),
      );
    }
    this.#host.post({ type: 'rows', generation, from, rows });
  }

  async #showInHoldOut(line: number): Promise<void> {
    const { file, holdOut } = this.#shown ?? {};
    const row = file?.rows.find((one) => one.line === line);
    if (row === undefined || holdOut === undefined) return;
    const found = await lineInHoldOut(holdOut, row.messages);
    if (found === undefined) {
      void showInformation(l10n.t('{0} doesn’t have this prompt.', fileNameOf(holdOut)));
    } else
      await commands.executeCommand(COMMANDS.previewDataset, Uri.file(holdOut), undefined, { row: found });
  }

  async #chooseDataset(): Promise<void> {
    const uri = await openDataset();
    if (uri === undefined) return;
    if (uri.scheme === 'file') await this.#document.compareWith(uri.fsPath);
    else void showError(notOnDisk(datasetName(uri)));
  }

  #postHead(): void {
    this.#host.post(
      answersHead({
        files: this.#names,
        isSample: this.#memory.file === this.#parts.sample,
        hasChanged: this.#hasChanged,
        problem: this.#document.problem,
        shown: this.#shown,
        filter: this.#filter,
      }),
    );
  }
}

function unitsOf({ messages, expected, base, adapter }: AnswerRow): number {
  const texts = [...messages.map(({ text }) => text), expected, base, adapter];
  return texts.reduce((sum, text) => sum + text.length, 0);
}
