/**
 * Every id that package.json contributes and the code uses, in one place; a test holds both against each other. The names
 * are a contract: other extensions, key bindings and agents call them.
 */
export const COMMANDS = {
  signIn: 'fineTuning.signIn',
  signOut: 'fineTuning.signOut',
  switchAccount: 'fineTuning.switchAccount',
  replaceKey: 'fineTuning.replaceKey',
  useSandbox: 'fineTuning.useSandbox',
  checkDataset: 'fineTuning.checkDataset',
  showDatasetProblems: 'fineTuning.showDatasetProblems',
  convertToJsonl: 'fineTuning.convertToJsonl',
  copyWithoutByteOrderMark: 'fineTuning.copyWithoutByteOrderMark',
  submitDataset: 'fineTuning.submitDataset',
  previewDataset: 'fineTuning.previewDataset',
  submitAgain: 'fineTuning.submitAgain',
  refresh: 'fineTuning.refresh',
  loadMoreRuns: 'fineTuning.loadMoreRuns',
  loadAllRuns: 'fineTuning.loadAllRuns',
  filterRuns: 'fineTuning.filterRuns',
  clearRunsFilter: 'fineTuning.clearRunsFilter',
  toggleRunGrouping: 'fineTuning.toggleRunGrouping',
  showRun: 'fineTuning.showRun',
  copyRunId: 'fineTuning.copyRunId',
  downloadAdapter: 'fineTuning.downloadAdapter',
  cancelDownload: 'fineTuning.cancelDownload',
  inspectAdapter: 'fineTuning.inspectAdapter',
  cancelUpload: 'fineTuning.cancelUpload',
  resolveSubmission: 'fineTuning.resolveSubmission',
  refreshBalance: 'fineTuning.refreshBalance',
  showSpend: 'fineTuning.showSpend',
  setBudget: 'fineTuning.setBudget',
  openModelTerms: 'fineTuning.openModelTerms',
  openModelUsePolicy: 'fineTuning.openModelUsePolicy',
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

/** Settings of the extension, without the section `fineTuning`. */
export const SETTINGS = {
  baseUrl: 'baseUrl',
  lowBalance: 'lowBalance',
  checkAutomaticallyUpToMB: 'checkAutomaticallyUpToMB',
  codeLens: 'codeLens',
  datasetFiles: 'datasetFiles',
  labelMarker: 'labelMarker',
  downloadDirectory: 'downloadDirectory',
  downloadWhenComplete: 'downloadWhenComplete',
  notifications: 'notifications',
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
  /** Whether the Runs view shows only what a filter lets through. */
  runsFiltered: 'fineTuning.runsFiltered',
} as const;
