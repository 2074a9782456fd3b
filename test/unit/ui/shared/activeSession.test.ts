import assert from 'node:assert/strict';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { Sessions } from '../../../../src/core/runs/sessions.ts';
import { followActive } from '../../../../src/ui/shared/activeSession.ts';

describe('followActive', () => {
  it('follows the session of now and each next one, one at a time, until it is disposed', () => {
    const changed = new Emitter<Session | undefined>();
    const session = (id: string) => ({ account: { id } }) as unknown as Session;
    const sessions = { active: session('a'), onDidChangeActive: changed.event } as unknown as Sessions;
    const told: string[] = [];
    const following = followActive(sessions, (active) => {
      const id = active?.account.id ?? 'none';
      told.push(`follow ${id}`);
      return ['1', '2'].map((part) => ({ dispose: () => told.push(`leave ${id} ${part}`) }));
    });
    changed.fire(session('b'));
    changed.fire(undefined);
    following.dispose();
    changed.fire(session('c'));
    following.dispose();
    assert.deepEqual(told, [
      'follow a',
      'leave a 1',
      'leave a 2',
      'follow b',
      'leave b 1',
      'leave b 2',
      'follow none',
      'leave none 1',
      'leave none 2',
    ]);
  });
});
