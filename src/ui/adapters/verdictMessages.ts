import * as vscode from 'vscode';
import type { AdapterVerdict } from './protocol.ts';
import type { AdapterReport, ArchiveFault, Measurements, VerdictCode } from '../../core/adapters/report.ts';
import { formatCount } from '../shared/format.ts';

/** What a file is, what that means, and what to do next. */
export function adapterVerdict(
  report: AdapterReport,
  measurements: Measurements | undefined,
): AdapterVerdict {
  const { code } = report.verdict;
  return code === 'adapter' ? readable(report, measurements) : unreadable(code, report);
}

function readable(
  { config, problems }: AdapterReport,
  measurements: Measurements | undefined,
): AdapterVerdict {
  const { l10n } = vscode;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.filter(({ severity }) => severity === 'warning').length;
  const isOther = problems.some(({ code }) => code === 'not-lora');
  if (measurements !== undefined && measurements.nans + measurements.infinities > 0)
    return {
      kind: 'error',
      title: l10n.t('An adapter with broken values'),
      sentences: [
        l10n.t(
          'Some of its values are no numbers (NaN or infinity): a model that loads it answers nonsense.',
        ),
        l10n.t('Train again, with a smaller learning rate or other data. Loading it is of no use.'),
      ],
    };
  if (errors > 0)
    return {
      kind: 'error',
      title: isOther ? l10n.t('An adapter that is not LoRA') : l10n.t('An adapter with problems'),
      sentences: [
        errors === 1
          ? l10n.t('One problem keeps tools from loading it, or lets them load it wrongly.')
          : l10n.t(
              '{0} problems keep tools from loading it, or let them load it wrongly.',
              formatCount(errors),
            ),
        l10n.t(
          'Read them below before you use it. If the archive came like this, download it again or ask the service.',
        ),
      ],
    };
  if (measurements?.hasNoEffect === true)
    return {
      kind: 'warning',
      title: l10n.t('A complete LoRA adapter that changes nothing'),
      sentences: [
        l10n.t(
          'Every A has its B, but all their products are zero: with this adapter the model answers as without it.',
        ),
        l10n.t('That is so before any training, and in the sandbox, where nothing is trained.'),
      ],
    };
  const base = config?.baseModel;
  const complete =
    base === undefined
      ? l10n.t('Every A has its B, and the shapes fit the config.')
      : l10n.t(
          'Every A has its B, and the shapes fit the config. It was trained on {0}, and fits no other model.',
          base,
        );
  return warnings === 0
    ? {
        kind: 'clean',
        title: l10n.t('A complete LoRA adapter'),
        sentences: [complete, l10n.t('The recipes below load it.')],
      }
    : {
        kind: 'warning',
        title: l10n.t('A LoRA adapter, with something to know first'),
        sentences: [
          warnings === 1
            ? l10n.t('One warning: some tools load it, others may not.')
            : l10n.t('{0} warnings: some tools load it, others may not.', formatCount(warnings)),
          l10n.t('Read them below, then choose a recipe.'),
        ],
      };
}

function unreadable(
  code: Exclude<VerdictCode, 'adapter'>,
  { verdict, entryCount }: AdapterReport,
): AdapterVerdict {
  const { l10n } = vscode;
  const { fault, entry } = verdict;
  const again = l10n.t('Download it again. If it is the same then, it was packed like this.');
  const where = entry === undefined ? [] : [l10n.t('It is about this entry: {0}', entry)];
  const told = (kind: 'warning' | 'error', title: string, ...sentences: string[]): AdapterVerdict => ({
    kind,
    title,
    sentences,
  });
  switch (code) {
    case 'not-an-archive':
      return told(
        'error',
        l10n.t('Neither an archive nor safetensors'),
        l10n.t(
          'An adapter comes as a ZIP, a tar, a tar.gz or a safetensors file. This is none of them, whatever its name says.',
        ),
        l10n.t('If it was downloaded, it may be an error page of a proxy: download it again.'),
      );
    case 'empty':
      return told('error', l10n.t('There is nothing in it'), again);
    case 'broken':
      return told('error', l10n.t('Broken'), faultSentence(fault), ...where, again);
    case 'encrypted':
      return told(
        'error',
        l10n.t('Encrypted'),
        l10n.t(
          'The archive is locked with a password. Unpack it with the program that made it, then inspect the folder.',
        ),
      );
    case 'unsafe':
      return told(
        'error',
        l10n.t('Not safe to unpack'),
        faultSentence(fault),
        ...where,
        l10n.t(
          'Nothing of it was unpacked. No tool that packs adapters makes such an archive: do not unpack it by hand either.',
        ),
      );
    case 'unsupported':
      return told(
        'error',
        l10n.t('Packed in a way that is not read here'),
        ...where,
        l10n.t('Unpack it with the program that made it, then inspect the folder.'),
      );
    case 'no-adapter':
      return told(
        'error',
        l10n.t('No adapter in it'),
        entryCount === 1
          ? l10n.t('It can be read, but its one file holds no weights of an adapter.')
          : l10n.t(
              'It can be read, but none of its {0} files holds weights of an adapter.',
              formatCount(entryCount),
            ),
        l10n.t('An adapter has an adapter_config.json and an adapter_model.safetensors.'),
      );
    case 'full-model':
      return told(
        'warning',
        l10n.t('A whole model, not an adapter'),
        l10n.t(
          'The weights are those of a model. It is loaded by itself, without a base model and without these recipes.',
        ),
      );
    case 'pickle-only':
      return told(
        'warning',
        l10n.t('Weights only as pickle'),
        l10n.t(
          'The weights are there only as pickle files, which can run any code when they are loaded. They were not opened.',
        ),
        l10n.t(
          'Ask for the adapter as safetensors. If you trust whoever made it, PEFT can load it and save it so.',
        ),
      );
    case 'too-big':
      return told('error', l10n.t('Too big to be looked into'), faultSentence(fault), ...where);
    case 'unreadable':
      return told(
        'error',
        l10n.t('Cannot be read'),
        l10n.t('The system does not let it be read. Check its permissions, and whether the disk is there.'),
      );
  }
}

/** What is wrong with an archive. */
function faultSentence(fault: ArchiveFault | undefined): string {
  return (fault && knownFault(fault)) ?? vscode.l10n.t('It is not what it should be.');
}

/** What a code says is wrong with an archive; undefined where it is the code of something else. */
export function knownFault(code: string): string | undefined {
  const { l10n } = vscode;
  switch (code as ArchiveFault) {
    case 'truncated':
      return l10n.t('It ends too early: a part of it is missing.');
    case 'zip-no-end':
      return l10n.t('The end of the ZIP is missing, where its contents are listed.');
    case 'zip-directory':
    case 'zip-local-header':
    case 'zip-disagreement':
      return l10n.t('The list of the ZIP’s contents and the contents themselves do not agree.');
    case 'zip-crc':
      return l10n.t('The checksum of a file in it is wrong: its bytes were changed.');
    case 'zip-length':
      return l10n.t('A file in it is not as long as the ZIP says.');
    case 'gzip-data':
      return l10n.t('Its compressed data is damaged.');
    case 'tar-header':
    case 'tar-checksum':
      return l10n.t('A header of the tar archive is damaged.');
    case 'safetensors-header':
      return l10n.t('The header of the safetensors file is damaged.');
    case 'safetensors-offsets':
      return l10n.t('The safetensors file’s tensors lie where they cannot be.');
    case 'safetensors-length':
      return l10n.t('The safetensors file is not as long as its header says.');
    case 'data-after-end':
      return l10n.t('After its end there is more than there may be.');
    case 'path-outside':
      return l10n.t('It would write files outside of its folder.');
    case 'path-absolute':
      return l10n.t('It would write files at places of its own choice.');
    case 'path-odd':
      return l10n.t('It has file names that no system should take.');
    case 'link':
      return l10n.t('It holds links, which can lead outside of its folder.');
    case 'device':
      return l10n.t('It holds devices or other things that are no files.');
    case 'duplicate':
      return l10n.t('It holds two files of one name: which one a tool reads cannot be told.');
    case 'case-collision':
      return l10n.t('It holds files whose names differ only by upper and lower case.');
    case 'overlap':
      return l10n.t(
        'Its files lie over each other, as in an archive that grows without end when it is unpacked.',
      );
    case 'ratio':
      return l10n.t('It would grow out of all proportion when it is unpacked.');
    case 'encrypted':
      return l10n.t('It is locked with a password.');
    case 'method':
      return l10n.t('It is packed in a way that is not read here.');
    case 'too-many-entries':
      return l10n.t('It holds more files than an adapter ever has.');
    case 'too-large':
      return l10n.t('Unpacked it would be larger than an adapter ever is.');
    case 'header-too-large':
      return l10n.t('Its headers or its configs are larger than an adapter’s ever are.');
    default:
      return undefined;
  }
}
