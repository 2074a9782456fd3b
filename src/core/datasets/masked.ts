import type { ProblemCode } from './problems.ts';

/** What was found, so that a person can find it again and nobody can use it. */
export function masked(code: ProblemCode, found: string): string {
  switch (code) {
    case 'private-key':
      return found;
    case 'email-address': {
      const at = found.lastIndexOf('@');
      return `${found.slice(0, 1)}…${found.slice(at, at + 2)}…${found.slice(found.lastIndexOf('.'))}`;
    }
    case 'card-number':
      return `…${found.replace(/\D/g, '').slice(-4)}`;
    default:
      return `${found.slice(0, Math.min(8, Math.floor(found.length / 3)))}…`;
  }
}
