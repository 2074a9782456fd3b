import path from 'node:path';
import { commands, l10n, Uri, type WebviewPanel } from 'vscode';
import { lineInHoldOut } from '../../core/answers/filesBeside.ts';
import { tallyVotes } from '../../core/answers/votes.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { refusalSentence } from '../shared/datasetTexts.ts';
import { formatCount, formatRows } from '../shared/format.ts';
import { COMMANDS, PANELS } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import { showInformation } from '../shared/notifications.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';
import {
  isCount,
  isOneOf,
  isRecord,
  isText,
  WebviewHost,
  WebviewPanels,
  type RequestTable,
} from '../shared/webview.ts';
import { AnswersDocument, type ShownAnswers } from './answersDocument.ts';
import { answersRow, answerText, expectedOf, promptOf } from './answerRows.ts';
import {
  answersTitle,
  changedNotice,
  CHOICES,
  fileNotices,
  filterButtons,
  headlineOf,
  headTitle,
  noAnswers,
  pageWords,
  sampleNotice,
  summaryOf,
  tableOf,
  votesSentence,
  votesText,
} from './answersView.ts';
import type {
  AnswersChoice,
  AnswersFilter,
  AnswersHead,
  AnswersMemory,
  AnswersMessage,
  AnswersRequest,
  AnswersRow,
  AnswersVoteRow,
  AnswersVoting,
} from './protocol.ts';
import { Voting, type VotingStep } from './voting.ts';

const FILTERS: readonly AnswersFilter[] = ['all', 'different', 'adapter', 'base', 'voted'];
const VOTE_CHOICES: readonly AnswersChoice[] = ['left', 'right', 'equal'];
const REQUESTS: Readonly<RequestTable<AnswersRequest>> = {
  need: { generation: isCount, from: isCount, count: isCount },
  filter: { filter: isOneOf(FILTERS) },
  cancel: {},
  retry: {},
  showInHoldOut: { row: isCount },
  vote: {},
  choose: { row: isCount, choice: isOneOf(VOTE_CHOICES) },
  back: {},
  end: {},
  discardVotes: {},
};
/** Limits of one message with rows; the page requests the remaining ones again. Finding differences takes milliseconds a row. */
const MESSAGE_UNITS = 500_000;
const MESSAGE_MS = 20;

export interface AnswersPageParts {
  extensionUri: Uri;
  /** The script of the thread. */
  worker: string;
  /** The comparison that is packed with the extension. */
  sample: string;
  log: Pick<Log, 'error'>;
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
  /** That the file changed. */
  #notice: string | undefined;

  constructor(file: string, panel: WebviewPanel, parts: AnswersPageParts) {
    this.#file = file;
    this.#name = sanitizeServiceText(path.basename(file));
    this.#parts = parts;
    panel.title = answersTitle(this.#name);
    this.#document = this.#store.add(new AnswersDocument(file, parts.worker, parts.log));
    this.#host = this.#store.add(
      new WebviewHost<AnswersMessage, AnswersRequest>(panel, {
        page: 'answers',
        extensionUri: parts.extensionUri,
        title: panel.title,
        requests: REQUESTS,
        onReady: () => {
          this.#host.post({ type: 'start', words: pageWords(), memory: { file } });
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
    else if (request.type === 'cancel') this.#document.cancel();
    else if (request.type === 'retry') await this.#document.load();
    else if (request.type === 'filter') this.#list(request.filter);
    else this.#vote(request);
  }

  /** Lists another version of the file. Votes on the one before are dropped. */
  #follow(): void {
    const { shown } = this.#document;
    const before = this.#shown;
    this.#shown = shown;
    if (shown?.file !== before?.file || shown?.compared !== before?.compared) {
      const isSame = shown !== undefined && shown.file.sha256 === before?.file.sha256;
      if (shown !== undefined && before !== undefined && !isSame)
        this.#notice = changedNotice(this.#name, (this.#voting?.votes.size ?? 0) > 0);
      if (!isSame) {
        this.#voting = undefined;
        if (this.#filter === 'voted') this.#filter = 'all';
      }
      if (shown?.compared !== undefined) this.#voting ??= new Voting(shown.file, shown.compared.scores);
      this.#select();
      this.#postList(before !== undefined);
      this.#postVoting();
    }
    this.#postHead();
  }

  #list(filter: AnswersFilter): void {
    [this.#filter, this.#notice] = [filter, undefined];
    this.#select();
    this.#postHead();
    this.#postList(false);
  }

  #select(): void {
    const { file, compared } = this.#shown ?? {};
    const isListed = (index: number): boolean => {
      if (this.#filter === 'all') return true;
      if (this.#filter === 'voted') return this.#voting?.votes.has(file?.rows[index]?.line ?? 0) === true;
      if (this.#filter === 'different') return compared?.scores[index]?.isSame === false;
      return compared?.comparison.leads[index] === this.#filter;
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
      units += row.expected.length + row.base.length + row.adapter.length;
      rows.push(
        answersRow(row, this.#shown?.compared?.scores[index], {
          vote: this.#voting?.votes.get(row.line),
          hasHoldOut: this.#shown?.holdOut !== undefined,
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

  #vote(
    request: Exclude<AnswersRequest, { type: 'need' | 'filter' | 'cancel' | 'retry' | 'showInHoldOut' }>,
  ): void {
    const voting = this.#voting;
    if (voting === undefined) return;
    this.#notice = undefined;
    const before = voting.step;
    let said: string | undefined;
    if (request.type === 'vote') voting.begin();
    else if (request.type === 'back') voting.back();
    else if (request.type === 'discardVotes') voting.discard();
    else if (request.type === 'end') voting.end();
    else {
      if (before?.kind !== 'row' || !voting.choose(request.row, request.choice)) return;
      const [at, limit] = [formatCount(before.at + 1), formatCount(voting.limit)];
      said = l10n.t('{0}. {1} of {2}.', CHOICES[request.choice], at, limit);
    }
    this.#postVoting(said);
    if (voting.step === undefined) this.#list(voting.votes.size > 0 ? 'voted' : 'all');
    else this.#postHead();
  }

  #postVoting(said?: string): void {
    const step = this.#voting?.step;
    const [voting, message] = [
      this.#voting,
      { type: 'voting', said, row: undefined, end: undefined } as const,
    ];
    if (voting === undefined || step === undefined) this.#host.post(message);
    else if (step.kind === 'row') this.#host.post({ ...message, row: this.#voteRow(voting, step) });
    else this.#host.post({ ...message, end: endOf(voting) });
  }

  #voteRow(
    voting: Voting,
    { index, left, choice, at }: VotingStep & { kind: 'row' },
  ): AnswersVoteRow | undefined {
    const row = this.#shown?.file.rows[index];
    if (row === undefined) return undefined;
    const { words } = { words: CHOICES };
    const [first, last] = left === 'base' ? [row.base, row.adapter] : [row.adapter, row.base];
    const [limit, total] = [formatCount(voting.limit), formatRows(voting.total)];
    return {
      row: row.line,
      title: l10n.t('{0} of {1}', formatCount(at + 1), limit),
      note: l10n.t('{0} of {1} that differ', limit, total),
      prompt: promptOf(row.messages),
      expected: expectedOf(row),
      left: answerText('left', words.left, first),
      right: answerText('right', words.right, last),
      choice,
      canGoBack: at > 0,
    };
  }

  #postHead(): void {
    this.#host.post(this.#head());
  }

  #head(): AnswersHead {
    const { file, compared, expectedRows } = this.#shown ?? {};
    const { problem, progress } = this.#document;
    const votes = this.#voting?.votes;
    const tally = votes === undefined || votes.size === 0 ? undefined : tallyVotes(votes.values());
    const isSample = this.#file === this.#parts.sample;
    const isEmpty = file?.rows.length === 0;
    return {
      type: 'head',
      title: file === undefined ? this.#name : headTitle(this.#name, file.rows.length),
      notices: [
        ...(isSample ? [sampleNotice()] : []),
        ...(this.#notice === undefined ? [] : [this.#notice]),
        ...(file === undefined ? [] : fileNotices(this.#name, file, expectedRows)),
        ...(tally === undefined ? [] : [votesSentence(tally)]),
      ],
      progress: progress && {
        text: progressText(this.#name, progress.fraction),
        fraction: progress.fraction,
      },
      failure:
        problem !== undefined
          ? problemOf(this.#name, problem)
          : isEmpty
            ? { text: noAnswers(this.#name), retry: undefined }
            : undefined,
      headline: compared && !isEmpty ? headlineOf(compared.comparison) : undefined,
      table: compared && !isEmpty ? tableOf(compared.comparison) : undefined,
      filters: compared && !isEmpty ? filterButtons(this.#filter, tally !== undefined) : [],
      canVote: (this.#voting?.total ?? 0) > 0,
      summary: compared && !isEmpty ? summaryOf(compared.comparison, tally) : undefined,
    };
  }
}

function endOf(voting: Voting): AnswersVoting['end'] {
  const { isUnfinished, more } = voting;
  return {
    text: votesText(tallyVotes(voting.votes.values())),
    more: isUnfinished ? l10n.t('Continue') : more > 0 ? l10n.t('{0} More', formatCount(more)) : undefined,
  };
}

function progressText(name: string, fraction: number | undefined): string {
  return fraction === undefined
    ? l10n.t('Reading {0}…', name)
    : l10n.t('Comparing, {0}%…', Math.floor(fraction * 100));
}

function problemOf(name: string, problem: NonNullable<AnswersDocument['problem']>): AnswersHead['failure'] {
  if (problem === 'cancelled')
    return { text: l10n.t('The comparison was canceled.'), retry: TERMS.compareAnswers };
  if (problem === 'failed')
    return { text: l10n.t('The answers couldn’t be compared. See the log for details.'), retry: TERMS.retry };
  return { text: refusalSentence(name, problem), retry: undefined };
}
