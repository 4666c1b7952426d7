import { Failure } from '../../../lib/base/errors/failure.ts';
import type { IgnitionConfig } from '../../../lib/render/ignition/config.ts';
import { inapplicable } from '../../../lib/render/ignition/plain-entries.ts';

/** @throws Failure (fatal, `in-place-unsupported`) that names each entry that a running system cannot apply */
export function requireApplicable(origin: string, config: IgnitionConfig): void {
  const faults = inapplicable(config);
  if (faults.length === 0) return;
  throw new Failure('fatal', `${origin} asks for what a host without a live image cannot apply`, {
    code: 'in-place-unsupported',
    expected: 'files, folders, links and units of root, and the keys of core',
    found: faults.map(({ at, problem }) => `${at} ${problem}`).join('; '),
    fix: 'Leave them out, or install the host from a live image.',
  });
}
