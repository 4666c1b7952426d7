import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { exists } from '../../lib/host/files.ts';
import { eventually } from '../eventually.ts';
import type { Host } from '../host/host.ts';
import { patient } from '../patience.ts';
import type { LabContext } from '../scenario.ts';
import { takeBundle } from './collect.ts';
import { expectBundle } from './expect.ts';
import { layout } from './layout.ts';
import { expectNoSecrets } from './secrets.ts';

const BUNDLE_MS = 120_000;
/** Files of steps after the failed one. */
const MADE_LATER = /kubelet\.log$|static-pods/;

/** Id of the bundle that sno-gather.service makes on each host. */
const ID = { live: 'bootstrap', installed: 'failure' } as const;

/** The bundle made by systemd because a unit failed permanently: it must contain these findings. */
export async function expectBundleAfterFailure(
  host: Host,
  stage: keyof typeof ID,
  rules: readonly string[],
  { folder, out, signal }: LabContext,
): Promise<void> {
  const id = ID[stage];
  const path = join(host.rootDir, `var/log/log-bundle-${id}.tar.gz`);
  const left = async () => {
    if (await exists(path)) return;
    throw new Failure('deadline', 'the failed unit left no log bundle', {
      expected: `${path} within ${patient(BUNDLE_MS) / 1000} s`,
      fix: 'Read the journal of sno-gather.service',
    });
  };
  await eventually(left, BUNDLE_MS, signal);
  const bundle = await takeBundle(path, { id, folder: join(folder, 'bundles'), out }, signal);
  await expectBundle(bundle, {
    paths: layout[stage].always.filter((name) => !MADE_LATER.test(name)),
    found: rules,
    besides: ['step-failed', 'unit-failed'],
  });
  await expectNoSecrets(host, bundle.folder, signal);
}
