import assert from 'node:assert/strict';
import { DownloadLinkError, NetworkError, ServiceError } from '../../../../src/core/api/errors.ts';
import { DisposableStore } from '../../../../src/core/base/disposable.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { servicesOf, sessionOf } from '../../../helpers/services.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const { activateSandbox } = await withVscode(() => import('../../../../src/ui/sandbox/feature.ts'));
await withVscode(() => import('../../../../src/ui/sandbox/commands.ts'));

type FaultOf = Parameters<Parameters<typeof activateSandbox>[0]['sandboxFault']['provide']>[0];

describe('the fault of the sandbox that is on', () => {
  const storage = useFolder();

  it('is named for its account and for what it causes', async () => {
    standIn.forget();
    const disposables = new DisposableStore();
    const added = new Map<string, (...args: unknown[]) => Promise<unknown>>();
    const provided = Promise.withResolvers<FaultOf>();
    const refresh = () => Promise.resolve();
    const active = sessionOf({ account: { kind: 'sandbox' }, runs: { refresh }, balance: { refresh } });
    activateSandbox(
      servicesOf({
        commands: {
          add: (_needs: unknown, commands: Record<string, (...args: unknown[]) => Promise<unknown>>) => {
            for (const [id, command] of Object.entries(commands)) added.set(id, command);
          },
        },
        context: { globalStorageUri: { fsPath: storage() } },
        disposables,
        log: { info: () => undefined },
        sandboxConnection: { provide: () => undefined },
        sandboxFault: { provide: (faultOf: FaultOf) => provided.resolve(faultOf) },
        sessions: { active },
      }),
    );
    const faultOf = await provided.promise;
    const [sandbox, service] = [{ kind: 'sandbox' }, { kind: 'service' }] as const;
    const broken = new NetworkError('reset');
    const errors = {
      network: broken,
      link: new DownloadLinkError(broken),
      'too many': new ServiceError('rate_limited', 429),
      'too low': new ServiceError('insufficient_balance', 402),
      invalid: new ServiceError('validation_failed', 422),
      disk: new Error('x'),
      down: new ServiceError('internal_error', 503),
    };
    try {
      assert.equal(faultOf(sandbox), undefined);
      for (const [scenario, caused] of [
        ['answer-lost', ['network']],
        ['connection-lost', ['network']],
        ['rate-limited', ['too many']],
        ['insufficient-balance', ['too low']],
        ['service-down', ['down']],
        ['cut-download', ['link']],
        ['failed-run', []],
        ['none', []],
      ] as const) {
        await added.get('fineTuning.sandbox')?.('scenario', scenario);
        const named = Object.entries(errors).flatMap(([name, error]) =>
          faultOf(sandbox, { error }) === undefined ? [] : [name],
        );
        assert.deepEqual(named, caused, scenario);
        const isOn = scenario !== 'none';
        assert.equal(faultOf(sandbox) !== undefined, isOn);
        assert.equal(faultOf(sandbox, ['failed-run']) !== undefined, scenario === 'failed-run');
        assert.deepEqual([faultOf(service), faultOf(service, { error: broken })], [undefined, undefined]);
      }
      await added.get('fineTuning.sandbox')?.('scenario', 'insufficient-balance');
      const { sentence, button } = faultOf(sandbox) ?? {};
      assert.equal(sentence, 'Sandbox scenario “Balance too low” is on.');
      button?.['Choose Another']?.();
      assert.deepEqual(standIn.executed, [['fineTuning.sandbox', 'scenario']]);
    } finally {
      disposables.dispose();
    }
  });
});
