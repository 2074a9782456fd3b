import { l10n } from 'vscode';
import type { AdapterProblem, AdapterReport, Measurements } from '../../core/adapters/report.ts';
import { compact } from '../shared/format.ts';
import { problemSentences } from './adapterProblems.ts';
import type { AdapterVerdict } from './protocol.ts';

/** Says what the file is, what that means, and what to do next. */
export function adapterVerdict(
  report: AdapterReport,
  measurements: Measurements | undefined,
): AdapterVerdict {
  const { verdict, config, problems } = report;
  if (verdict.code !== 'adapter') return unreadable(verdict.code, report);
  const has = (severity: AdapterProblem['severity']) =>
    problems.some((problem) => problem.severity === severity);
  if (measurements !== undefined && measurements.nans + measurements.infinities > 0)
    return verdictOf(
      'error',
      l10n.t('Adapter with broken values'),
      l10n.t('Some values are NaN or infinite.'),
      l10n.t('Check the dataset before a new run.'),
    );
  if (problems.some(({ code }) => code === 'weights-empty'))
    return verdictOf(
      'error',
      l10n.t('Empty adapter'),
      l10n.t('Its weights are empty: the training saved nothing.'),
    );
  const other = problems.find(({ code }) => code === 'not-lora');
  const otherType = other && problemSentences(other)['not-lora'];
  if (has('error'))
    return verdictOf(
      'error',
      l10n.t('Adapter with problems'),
      l10n.t('Tools reject it or load it incorrectly.'),
      otherType,
    );
  if (otherType !== undefined) return verdictOf('warning', l10n.t('Not a LoRA adapter'), otherType);
  if (report.isFromSandbox === true)
    return verdictOf(
      'warning',
      l10n.t('Sandbox: nothing was trained'),
      l10n.t('It has the form of a LoRA adapter, but no effect.'),
    );
  if (measurements?.hasNoEffect === true)
    return verdictOf(
      'warning',
      l10n.t('Complete LoRA adapter that learned nothing'),
      l10n.t('It has no effect.'),
    );
  if (has('warning'))
    return verdictOf('warning', l10n.t('LoRA adapter with warnings'), l10n.t('It may not load everywhere.'));
  const fits = config?.baseModel && l10n.t('It fits only the model it was trained on.');
  if (problems.some(({ code }) => code === 'target-without-weights' || code === 'layer-without-weights'))
    return verdictOf('clean', l10n.t('LoRA adapter'), fits);
  return verdictOf('clean', l10n.t('Complete LoRA adapter'), l10n.t('The weights match the config.'), fits);
}

function verdictOf(
  kind: AdapterVerdict['kind'],
  title: string,
  ...sentences: (string | undefined)[]
): AdapterVerdict {
  return { kind, title, sentences: compact(...sentences) };
}

function unreadable(
  code: Exclude<AdapterReport['verdict']['code'], 'adapter'>,
  { verdict }: AdapterReport,
): AdapterVerdict {
  const { fault, entry, detail: type } = verdict;
  const again = l10n.t('Download it again.');
  const inspectFolder = l10n.t('Unpack it yourself, then inspect the folder.');
  const detail = compact(
    fault && FAULTS[fault],
    type && l10n.t('Type: {0}', type),
    entry && l10n.t('Entry: {0}', entry),
  );
  const texts: Record<typeof code, [title: string, ...sentences: string[]]> = {
    'not-an-archive': [
      l10n.t('Neither an archive nor safetensors'),
      l10n.t('It may be an error page. Download it again.'),
    ],
    empty: [l10n.t('Empty'), again],
    broken: [l10n.t('Damaged'), ...detail, again],
    encrypted: [l10n.t('Encrypted'), inspectFolder],
    unsafe: [l10n.t('Not safe to unpack'), ...detail, l10n.t('Don’t unpack it by hand either.')],
    unsupported:
      fault === 'dtype'
        ? [l10n.t('Unsupported weights'), ...detail]
        : [l10n.t('Unsupported archive'), ...detail, inspectFolder],
    'no-adapter': [
      l10n.t('No adapter found'),
      l10n.t('An adapter has an adapter_config.json and an adapter_model.safetensors.'),
    ],
    'other-format': [
      l10n.t('{0} adapter', type ?? ''),
      l10n.t('PEFT, vLLM and llama.cpp find nothing in it.'),
      type === 'MLX'
        ? l10n.t('Fuse it with mlx_lm fuse, or train again for PEFT.')
        : l10n.t('Export it in PEFT’s format with {0}.', type ?? ''),
    ],
    'full-model': [l10n.t('A full model, not an adapter'), l10n.t('It needs no base model.')],
    'pickle-only': [
      l10n.t('Only pickle weights'),
      l10n.t('Pickle files can run code and were not opened. Ask for safetensors.'),
    ],
    'too-big': [l10n.t('Too large to inspect'), ...detail],
    unreadable: [l10n.t('Can’t be read'), l10n.t('Check its permissions and the disk.')],
  };
  const isWarning = code === 'full-model' || code === 'pickle-only';
  return verdictOf(isWarning ? 'warning' : 'error', ...texts[code]);
}

/** Describes an archive's fault by its code; undefined for other codes. */
export function knownFault(code: string): string | undefined {
  return Object.entries(FAULTS).find(([fault]) => fault === code)?.[1];
}

const UNSAFE = l10n.t('It contains unsafe paths, names or links.');
const MISMATCH = l10n.t('Its contents don’t match its headers or checksums.');
const FAULTS: Readonly<Record<NonNullable<AdapterReport['verdict']['fault']>, string>> = {
  truncated: l10n.t('It is cut off.'),
  zip: MISMATCH,
  gzip: MISMATCH,
  tar: MISMATCH,
  safetensors: MISMATCH,
  checksum: MISMATCH,
  length: MISMATCH,
  'data-after-end': l10n.t('Trailing data after the archive.'),
  path: UNSAFE,
  name: UNSAFE,
  link: UNSAFE,
  duplicate: l10n.t('Two of its files have the same name.'),
  bomb: l10n.t('It may be a zip bomb.'),
  encrypted: l10n.t('It is encrypted.'),
  method: l10n.t('Its format is unsupported.'),
  dtype: l10n.t('A tensor has an unknown type.'),
  'too-large': l10n.t('It is larger than any adapter.'),
  'header-too-large': l10n.t('Its headers are too large.'),
};
