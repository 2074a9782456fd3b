/** The file of weights that tools look for. */
export const WEIGHTS_NAME = 'adapter_model.safetensors';
/** Entries of an archive or folder. */
export const MAX_ENTRIES = 10_000;
/** Of all entries together, unpacked. */
export const MAX_TOTAL_BYTES = 64 * 2 ** 30;
/** Unpacked size from which the ratio is checked: a few zeros pack well, and are not a bomb. */
export const RATIO_FROM_BYTES = 2 ** 30;
/** Unpacked bytes for each packed one. */
export const MAX_RATIO = 100;
/** A ZIP's central directory, and a tar's extended header. */
export const MAX_DIRECTORY_BYTES = 32 * 2 ** 20;
export const MAX_EXTENDED_BYTES = 2 ** 20;
/** Of the safetensors format: its reader takes no longer header. */
export const MAX_HEADER_BYTES = 100_000_000;
export const MAX_TENSORS = 200_000;
export const MAX_CONFIG_BYTES = 2 ** 20;
/** Of all configs of an archive together: all are read before one is chosen. */
export const MAX_CONFIGS_BYTES = 16 * 2 ** 20;
/** Bytes that are read at once: little enough that nothing waits for it. */
export const CHUNK_BYTES = 512 * 1024;
