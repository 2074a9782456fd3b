import { factLine } from '../shared/terms.ts';
import { AnswersDocument, type AnswersDocumentParts } from './answersDocument.ts';
import { shortVerdict } from './answersView.ts';
import { fileNameOf } from './trainedData.ts';

/**
 * Compares a file of answers once, as its page does, and says what that shows for a run. Undefined if it shows
 * nothing, or the answers name another run.
 */
export async function verdictFor(
  runId: string,
  file: string,
  parts: AnswersDocumentParts,
): Promise<string | undefined> {
  const document = new AnswersDocument(file, parts);
  try {
    const isOpen = () => document.shown === undefined || document.shown.leak?.kind === 'comparing';
    while (document.problem === undefined && isOpen())
      await new Promise<void>((resolve) => void document.onDidChange(resolve));
    const { shown } = document;
    if (shown === undefined || shown.file.runs.some((one) => one !== runId)) return undefined;
    const verdict = shortVerdict(shown);
    return verdict && factLine(fileNameOf(file), verdict);
  } finally {
    document.dispose();
  }
}
