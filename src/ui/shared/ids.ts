/** What a lens, a fix, a row of a tree or a welcome text runs: package.json does not contribute these. */
export const UNLISTED_COMMANDS = {
  showDatasetProblems: 'fineTuning.showDatasetProblems',
  convertToJsonl: 'fineTuning.convertToJsonl',
  copyWithoutByteOrderMark: 'fineTuning.copyWithoutByteOrderMark',
  loadMoreRuns: 'fineTuning.loadMoreRuns',
  openWebsite: 'fineTuning.openWebsite',
} as const;

/**
 * Every command that is registered, in one place. A test holds them against those that package.json contributes. The names are a
 * contract: other extensions, key bindings and agents call them.
 */
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
  openSampleDataset: 'fineTuning.openSampleDataset',
  submitAgain: 'fineTuning.submitAgain',
  refresh: 'fineTuning.refresh',
  loadAllRuns: 'fineTuning.loadAllRuns',
  filterRuns: 'fineTuning.filterRuns',
  clearRunsFilter: 'fineTuning.clearRunsFilter',
  toggleRunGrouping: 'fineTuning.toggleRunGrouping',
  showRun: 'fineTuning.showRun',
  openRunInNewTab: 'fineTuning.openRunInNewTab',
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
  sandboxScenario: 'fineTuning.sandbox.scenario',
  sandboxReset: 'fineTuning.sandbox.reset',
  sandboxAddFunds: 'fineTuning.sandbox.addFunds',
  sandboxClockSpeed: 'fineTuning.sandbox.clockSpeed',
} as const;
export type CommandId = (typeof COMMANDS)[keyof typeof COMMANDS];

/** Says whose a problem in the Problems panel is. */
export const EXTENSION_NAME = 'Fine-Tuning';

export const VIEWS = { runs: 'fineTuning.runs', models: 'fineTuning.models' } as const;

/** View types of custom editors. */
export const EDITORS = { datasetPreview: 'fineTuning.datasetPreview' } as const;

/** View types of pages in editor tabs. */
export const PANELS = {
  run: 'fineTuning.run',
  adapter: 'fineTuning.adapter',
  spend: 'fineTuning.spend',
} as const;

/** Settings of the extension, without the section `fineTuning`, and what holds where one is missing. */
export const SETTINGS = {
  /** The address that sign-in offers: no address of the service is known. */
  baseUrl: '' as string,
  /** Below this balance, in whole units of its currency, the status bar warns; 0 never warns. */
  lowBalance: 0 as number,
  /** Up to this size a JSONL document is checked without being asked; 0 never is. */
  checkAutomaticallyUpToMB: 0 as number,
  codeLens: true as boolean,
  datasetFiles: {} as Readonly<Record<string, boolean>>,
  /** Whether a marker is added to the label of each run, by which it is recognised. */
  labelMarker: true as boolean,
  /** The folder that adapters are downloaded into, as the user wrote it; empty where it is asked for each time. */
  downloadDirectory: '' as string,
  downloadWhenComplete: 'ask' as string,
  notifications: 'finished' as string,
} as const;

export const CONTEXT_KEYS = {
  /** `signedOut`, or the active session's SessionState; `connecting` until its runs were read. */
  state: 'fineTuning.state',
  /** Whether there are accounts, active or not. */
  accountsStored: 'fineTuning.accountsStored',
  /** Whether the accounts cannot be read. */
  accountsUnreadable: 'fineTuning.accountsUnreadable',
  /** Whether the active account is the sandbox. */
  sandbox: 'fineTuning.sandboxActive',
  /** The paths of what was downloaded from the active account. */
  downloadedFiles: 'fineTuning.downloadedFiles',
  /** Whether the user gave the active account a website. */
  website: 'fineTuning.website',
  /** Whether the Runs view shows only what a filter lets through. */
  runsFiltered: 'fineTuning.runsFiltered',
  // Each ticks a step of the walkthrough, which VS Code remembers.
  /** Whether there is a sandbox account. */
  triedSandbox: 'fineTuning.walkthrough.sandbox',
  /** Whether a check that the user asked for has ended. */
  checked: 'fineTuning.walkthrough.checked',
  /** Whether there is an account of a service. */
  signedIn: 'fineTuning.walkthrough.signedIn',
  /** Whether a run was charged. */
  submitted: 'fineTuning.walkthrough.submitted',
  /** Whether an adapter was downloaded. */
  downloaded: 'fineTuning.walkthrough.downloaded',
} as const;
