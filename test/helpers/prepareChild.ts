// Copies the dataset in its argument when it gets a message, so that a test can kill it meanwhile.
import { DatasetChecker } from '../../src/core/datasets/checker.ts';
import { NO_CHANGES } from '../../src/core/datasets/copyTypes.ts';
import { inspectDataset } from '../../src/core/datasets/fileKind.ts';
import { prepareCopy } from '../../src/core/datasets/writeCopy.ts';
import { checkerFiles } from './checker.ts';

const checker = new DatasetChecker(await checkerFiles());
const source = await inspectDataset(process.argv[2] ?? '', Infinity);
if (typeof source === 'string') throw new Error(source);
process.send?.('ready');
await new Promise((resolve) => process.once('message', resolve));
await prepareCopy(
  checker,
  source,
  { ...NO_CHANGES, withoutErrors: true, mask: { secrets: true, personal: false } },
  { maxBytes: Infinity },
);
