import path from 'node:path';
import { commands, l10n, Uri, type WebviewPanel } from 'vscode';
import type { AnswerRow } from '../../core/answers/answersFile.ts';
import { lineInHoldOut } from '../../core/answers/filesBeside.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { datasetName, openDataset } from '../shared/chooseDataset.ts';
import { notOnDisk } from '../shared/datasetTexts.ts';
import { COMMANDS, PANELS } from '../shared/ids.ts';
import { showError, showInformation } from '../shared/notifications.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import {
  isCount,
  isOneOf,
  isRecord,
  isText,
  WebviewHost,
  WebviewPanels,
  type RequestTable,
} from '../shared/webview.ts';
import { AnswersDocument, type AnswersDocumentParts, type ShownAnswers } from './answersDocument.ts';
import { answersRow, voteTexts } from './answerRows.ts';
import { answersHead, answersTitle, answersWords, offeredFilters } from './answersView.ts';
import { votedText, voteEnd, voteTitle } from './voteText.ts';
import { trainedWord } from './leakText.ts';
import type {
  AnswersChoice,
  AnswersFilter,
  AnswersMemory,
  AnswersMessage,
  AnswersRequest,
  AnswersRow,
  AnswersVoteRow,
} from './protocol.ts';
import { Voting, type VoteStep } from './voting.ts';

const FILTERS: readonly AnswersFilter[] = ['all', 'different', 'adapter', 'base', 'trained', 'voted'];
const VOTE_CHOICES: readonly AnswersChoice[] = ['left', 'right', 'equal'];
const REQUESTS: Readonly<RequestTable<AnswersRequest>> = {
  need: { generation: isCount, from: isCount, count: isCount },
  filter: { filter: isOneOf(FILTERS) },
  showInHoldOut: { row: isCount },
  chooseDataset: {},
  vote: {},
  choose: { row: isCount, choice: isOneOf(VOTE_CHOICES) },
  back: {},
  end: {},
  discardVotes: {},
};
/** Limits of one message; the page requests the rest again. Differences take milliseconds a row. */
const MESSAGE_UNITS = 500_000;
const MESSAGE_MS = 20;

export interface AnswersPageParts extends AnswersDocumentParts {
  extensionUri: Uri;
}

/** Creates the pages that compare answers, one for each file. */
export function answersPanels(parts: AnswersPageParts): WebviewPanels<AnswersMemory, AnswersPage> {
  return new WebviewPanels({
    viewType: PANELS.answers,
    memoryOf: (state) => {
      const file = isRecord(state) ? state['file'] : undefined;
      return isText(file) && path.isAbsolute(file) ? { file: path.normalize(file) } : undefined;
    },
    keyOf: ({ file }) => file,
    create: (panel, { file }) => new AnswersPage(file, panel, parts),
  });
}

/** Owns the page of one file of answers: answers its requests, and posts what it shows. */
export class AnswersPage implements Disposable {
  readonly #file: string;
  readonly #name: string;
  readonly #parts: AnswersPageParts;
  readonly #store = new DisposableStore();
  readonly #document: AnswersDocument;
  readonly #host: WebviewHost<AnswersMessage, AnswersRequest>;
  #filter: AnswersFilter = 'all';
  /** Indexes of the listed rows. */
  #listed: readonly number[] = [];
  #generation = 0;
  /** What was listed last. */
  #shown: ShownAnswers | undefined;
  #voting: Voting | undefined;
  /** Set from a change of the file until the user does something; whether it dropped votes. */
  #changed: { hadVotes: boolean } | undefined;

  constructor(file: string, panel: WebviewPanel, parts: AnswersPageParts) {
    this.#file = file;
    this.#name = sanitizeServiceText(path.basename(file));
    this.#parts = parts;
    panel.title = answersTitle(this.#name);
    this.#document = this.#store.add(new AnswersDocument(file, parts));
    this.#host = this.#store.add(
      new WebviewHost<AnswersMessage, AnswersRequest>(panel, {
        page: 'answers',
        extensionUri: parts.extensionUri,
        title: panel.title,
        requests: REQUESTS,
        onReady: () => {
          this.#host.post({ type: 'start', words: answersWords(), memory: { file } });
          this.#postHead();
          this.#postList(false);
          this.#postVoting();
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
    else if (request.type === 'filter') this.#list(request.filter);
    else this.#vote(request);
  }

  /** Lists another version of the file. Votes on the one before are dropped. */
  #follow(): void {
    const { shown } = this.#document;
    const before = this.#shown;
    this.#shown = shown;
    if (shown !== before) {
      const isSame = shown !== undefined && shown.file.sha256 === before?.file.sha256;
      // An earlier change may have dropped votes, and the user may not have seen that notice.
      const hadVotes = this.#changed?.hadVotes === true || this.#voting?.tally !== undefined;
      if (before !== undefined && !isSame) this.#changed = { hadVotes };
      if (!isSame) this.#voting = undefined;
      const voting = this.#voting;
      if (shown !== undefined && (voting === undefined || shown.trained !== before?.trained))
        this.#voting = new Voting(shown, voting);
      if (shown !== undefined && !offeredFilters(shown, this.#voting?.tally).includes(this.#filter))
        this.#filter = 'all';
      this.#select();
      this.#postList(before !== undefined);
      if (!isSame || this.#voting !== voting) this.#postVoting();
    }
    this.#postHead();
  }

  #list(filter: AnswersFilter): void {
    [this.#filter, this.#changed] = [filter, undefined];
    this.#select();
    this.#postHead();
    this.#postList(false);
  }

  #select(): void {
    const { file, scores, comparison } = this.#shown ?? {};
    const isListed = (index: number): boolean => {
      if (this.#filter === 'all') return true;
      if (this.#filter === 'voted') return this.#voting?.votes.has(file?.rows[index]?.line ?? 0) === true;
      if (this.#filter === 'different')
        return scores?.[index]?.isSame === false && comparison?.leads[index] !== 'trained';
      return comparison?.leads[index] === this.#filter;
    };
    this.#listed = Array.from(file?.rows.keys() ?? []).filter(isListed);
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
    let units = 0;
    for (const index of this.#listed.slice(from, from + count)) {
      const row = this.#shown?.file.rows[index];
      if (row === undefined || (rows.length > 0 && (units > MESSAGE_UNITS || performance.now() > endMs)))
        break;
      units += unitsOf(row);
      rows.push(
        answersRow(row, this.#shown?.scores[index], {
          vote: this.#voting?.votes.get(row.line),
          hasHoldOut: this.#shown?.holdOut !== undefined,
          note: this.#shown?.trained.has(index) === true ? trainedWord(this.#shown) : undefined,
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
      const name = sanitizeServiceText(path.basename(holdOut));
      void showInformation(l10n.t('{0} doesn’t have this prompt.', name));
    } else
      await commands.executeCommand(COMMANDS.previewDataset, Uri.file(holdOut), undefined, { row: found });
  }

  async #chooseDataset(): Promise<void> {
    const uri = await openDataset();
    if (uri === undefined) return;
    if (uri.scheme === 'file') await this.#document.compareWith(uri.fsPath);
    else void showError(notOnDisk(datasetName(uri)));
  }

  #vote(
    request: Exclude<AnswersRequest, { type: 'need' | 'filter' | 'showInHoldOut' | 'chooseDataset' }>,
  ): void {
    const voting = this.#voting;
    // No vote before it is known which rows were trained.
    if (voting === undefined || this.#shown?.leak?.kind === 'comparing') return;
    this.#changed = undefined;
    const before = voting.step;
    let said: string | undefined;
    if (request.type === 'vote') voting.begin();
    else if (request.type === 'back') voting.back();
    else if (request.type === 'discardVotes') voting.discard();
    else if (request.type === 'end') voting.end();
    else {
      if (before?.kind !== 'row' || !voting.choose(request.row, request.choice)) return;
      said = votedText(request.choice, before.at, voting);
    }
    this.#postVoting(said);
    if (voting.step === undefined) this.#list(voting.tally === undefined ? 'all' : 'voted');
    else this.#postHead();
  }

  #postVoting(said?: string): void {
    const voting = this.#voting;
    const step = voting?.step;
    this.#host.post({
      type: 'voting',
      row: voting && step?.kind === 'row' ? this.#voteRow(voting, step) : undefined,
      end: voting && step?.kind === 'end' ? voteEnd(voting) : undefined,
      said,
    });
  }

  #voteRow(
    voting: Voting,
    { index, left, choice, at }: VoteStep & { kind: 'row' },
  ): AnswersVoteRow | undefined {
    const row = this.#shown?.file.rows[index];
    return row && { ...voteTexts(row, left), ...voteTitle(at, voting), choice, canGoBack: at > 0 };
  }

  /** Not during voting: it would reveal whose answer is which. */
  #postHead(): void {
    if (this.#voting?.step?.kind === 'row') return;
    this.#host.post(
      answersHead({
        name: this.#name,
        isSample: this.#file === this.#parts.sample,
        changed: this.#changed,
        problem: this.#document.problem,
        shown: this.#shown,
        filter: this.#filter,
        voteRows: this.#voting?.total ?? 0,
        tally: this.#voting?.tally,
      }),
    );
  }
}

function unitsOf({ messages, expected, base, adapter }: AnswerRow): number {
  const texts = [...messages.map(({ text }) => text), expected, base, adapter];
  return texts.reduce((sum, text) => sum + text.length, 0);
}
