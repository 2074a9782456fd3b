import { checkerFiles } from './checker.ts';

/** Compiles the scanner once, before the processes of the unit tests would each do so. */
export async function mochaGlobalSetup(): Promise<void> {
  await checkerFiles();
}
