import { done } from '../../lib/engine/steps/step.ts';
import { run } from '../../lib/host/command.ts';
import { readTextIfPresent } from '../../lib/host/files.ts';
import type { SiteStep } from './or-back.ts';

const HOSTNAME_MS = 30_000;

/** The name of the operating system. The Node keeps its own, unless it was renamed with the identity. */
export const hostname: SiteStep = {
  name: 'hostname',
  leaves: 'the name of the host at its site',
  touches: ['disk', 'systemd'],
  async holds({ paths, site }) {
    if (site.hostname === undefined) return true;
    return (await readTextIfPresent(paths.at('/etc/hostname')))?.trim() === site.hostname;
  },
  async run({ site }, { signal }) {
    if (site.hostname === undefined) return done('as it was');
    const limits = { signal, deadlineMs: HOSTNAME_MS };
    await run('hostnamectl', ['set-hostname', site.hostname], limits);
    return done(site.hostname);
  },
};
