export function searchSecrets(from: usize, to: usize, rows: u32): void {}
