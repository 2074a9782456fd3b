import * as v from 'valibot';

/**
 * By what a download was found complete: the checks of the archive itself, or the length alone: of an archive that could not
 * be checked (`unread`) or fails its checks (`damaged`), of a web page (`html`) and of any other file.
 */
export type Verified = 'zip' | 'gzip' | 'tar' | 'safetensors' | 'unread' | 'length' | 'html' | 'damaged';

const wholeNumber = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** An artifact that came home. Whether the file still stands there, the record does not know. */
export const downloadRecordSchema = v.object({
  runId: v.string(),
  artifactType: v.string(),
  filename: v.optional(v.string()),
  path: v.string(),
  sizeBytes: wholeNumber,
  /** Of the file's bytes, lower-case hexadecimal; the service tells none to compare it to. */
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  verified: v.picklist([
    'zip',
    'gzip',
    'tar',
    'safetensors',
    'unread',
    'length',
    'html',
    'damaged',
  ] satisfies Verified[]),
  completedAtMs: v.number(),
});

export type DownloadRecord = Readonly<v.InferOutput<typeof downloadRecordSchema>>;
