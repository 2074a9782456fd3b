/** Commands run by code lenses, quick fixes, tree rows, pages, and welcome texts; package.json does not contribute them. */
export const UNLISTED_COMMANDS = {
  showDatasetProblems: 'fineTuning.showDatasetProblems',
  loadMoreRuns: 'fineTuning.loadMoreRuns',
  openWebsite: 'fineTuning.openWebsite',
} as const;

/** All registered commands; a test compares them with package.json, and lists the IDs that others rely on. */
export const COMMANDS = {
  ...UNLISTED_COMMANDS,
  signIn: 'fineTuning.signIn',
  signOut: 'fineTuning.signOut',
  switchAccount: 'fineTuning.switchAccount',
  replaceKey: 'fineTuning.replaceKey',
  useSandbox: 'fineTuning.useSandbox',
  checkDataset: 'fineTuning.checkDataset',
  submitDataset: 'fineTuning.submitDataset',
  previewDataset: 'fineTuning.previewDataset',
  prepareDataset: 'fineTuning.prepareDataset',
  convertToJsonl: 'fineTuning.convertToJsonl',
  openSampleDataset: 'fineTuning.openSampleDataset',
  compareAnswers: 'fineTuning.compareAnswers',
  compareTwoAnswers: 'fineTuning.compareTwoAnswers',
  openSampleComparison: 'fineTuning.openSampleComparison',
  submitAgain: 'fineTuning.submitAgain',
  copySkill: 'fineTuning.copySkill',
  refresh: 'fineTuning.refresh',
  loadAllRuns: 'fineTuning.loadAllRuns',
  findRuns: 'fineTuning.findRuns',
  showRun: 'fineTuning.showRun',
  copyRunId: 'fineTuning.copyRunId',
  downloadAdapter: 'fineTuning.downloadAdapter',
  cancelDownload: 'fineTuning.cancelDownload',
  inspectAdapter: 'fineTuning.inspectAdapter',
  cancelUpload: 'fineTuning.cancelUpload',
  resolveSubmission: 'fineTuning.resolveSubmission',
  checkSubmission: 'fineTuning.checkSubmission',
  continueSubmission: 'fineTuning.continueSubmission',
  refreshBalance: 'fineTuning.refreshBalance',
  showSpend: 'fineTuning.showSpend',
  setBudget: 'fineTuning.setBudget',
  openModelTerms: 'fineTuning.openModelTerms',
  openModelUsePolicy: 'fineTuning.openModelUsePolicy',
  openWalkthrough: 'fineTuning.openWalkthrough',
  diagnoseConnection: 'fineTuning.diagnoseConnection',
  copySupportInfo: 'fineTuning.copySupportInfo',
  reportIssue: 'fineTuning.reportIssue',
  showLog: 'fineTuning.showLog',
  sandbox: 'fineTuning.sandbox',
} as const;
export type CommandId = (typeof COMMANDS)[keyof typeof COMMANDS];

/** The tools of agents, which VS Code knows by these names. */
export const AGENT_TOOLS = [
  'fineTuning_checkDataset',
  'fineTuning_prepareDataset',
  'fineTuning_listRuns',
  'fineTuning_getRun',
  'fineTuning_estimatePrice',
  'fineTuning_inspectAdapter',
  'fineTuning_proposeRun',
] as const;
export type AgentTool = (typeof AGENT_TOOLS)[number];

/** The source of the extension's problems in the Problems panel. */
export const EXTENSION_NAME = 'Fine-Tuning';

export const VIEWS = { runs: 'fineTuning.runs', models: 'fineTuning.models' } as const;

/** View types of custom editors. */
export const EDITORS = { datasetPreview: 'fineTuning.datasetPreview' } as const;

/** View types of pages in editor tabs. */
export const PANELS = {
  run: 'fineTuning.run',
  adapter: 'fineTuning.adapter',
  spend: 'fineTuning.spend',
  answers: 'fineTuning.answers',
} as const;

/** Settings of the extension without the section `fineTuning`, with their fallback values. */
export const SETTINGS = {
  /** The URL that sign-in suggests. There is no default service. */
  baseUrl: '' as string,
  /** The status bar warns below this balance, in whole units of its currency; 0 disables the warning. */
  lowBalance: 0 as number,
  /** JSONL documents up to this size are checked automatically; 0 disables automatic checks. */
  checkAutomaticallyUpToMB: 0 as number,
  codeLens: true as boolean,
  datasetFiles: {} as Readonly<Record<string, boolean>>,
  /** Whether to add a marker to each run's label. A marker identifies the run. */
  labelMarker: true as boolean,
  /** Whether to keep fingerprints of the rows of submitted datasets, which say later what changed. */
  rememberRows: true as boolean,
  /** The folder for downloaded adapters, as the user wrote it; if empty, the user is asked each time. */
  downloadDirectory: '' as string,
  downloadWhenComplete: 'ask' as string,
  notifications: 'on' as string,
  /** What agents may do: `on`, `readOnly` or `off`. */
  agents: 'on' as string,
} as const;

export const CONTEXT_KEYS = {
  /** `signedOut`, or a SessionState. Until its runs are read: `connecting`, or `offline` after a failure. */
  state: 'fineTuning.state',
  /** Whether accounts are stored, active or not. */
  accountsStored: 'fineTuning.accountsStored',
  /** Whether the accounts cannot be read. */
  accountsUnreadable: 'fineTuning.accountsUnreadable',
  /** Whether the active account is the sandbox. */
  sandbox: 'fineTuning.sandboxActive',
  /** The paths of the open files that have answers to compare. */
  answersFiles: 'fineTuning.answersFiles',
  /** The paths of the files downloaded from the active account. */
  downloadedFiles: 'fineTuning.downloadedFiles',
  /** Whether the user entered a website for the active account. */
  website: 'fineTuning.website',
  /** Whether the Runs view is filtered. */
  // Each becomes true for a moment to tick a step of the walkthrough; VS Code remembers that.
  /** A sandbox account exists. */
  triedSandbox: 'fineTuning.walkthrough.sandbox',
  /** A check requested by the user ended. */
  checked: 'fineTuning.walkthrough.checked',
  /** A run was charged. */
  submitted: 'fineTuning.walkthrough.submitted',
} as const;
