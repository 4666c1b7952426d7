/** One boot of a host in a mount namespace of its own: `boot.ts DISK bootstrap|install`. */
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { coverFolders } from '../../../agents/in-place/cover-folders.ts';
import { openBundle } from '../../../agents/in-place/open.ts';
import { stage } from '../../../agents/install-to-disk/in-place/stage.ts';
import type { HostContext } from '../../../agents/steps/host-context.ts';
import { commit } from '../../../agents/steps/in-place/commit.ts';
import { createLogger } from '../../../lib/base/log/logger.ts';
import { inPlaceConfigFile } from '../../../lib/cluster/installation/in-place/config.ts';
import { underlying } from '../../../lib/cluster/installation/in-place/places.ts';
import { clusterSchema } from '../../../lib/config/cluster/cluster.ts';
import { Progress } from '../../../lib/engine/steps/progress.ts';
import { run } from '../../../lib/host/command.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';

const [disk = '', action = ''] = process.argv.slice(2);
const paths = hostPaths(disk);
const signal = AbortSignal.timeout(60_000);
const log = createLogger({ write: (line) => process.stderr.write(line), priorities: false });
const progress = new Progress(signal, performance.now() + 60_000, log, { waiting: () => true });

// As systemd has them, mounts are seen by every copy that is not made private.
for (const args of [
  ['--bind', disk, disk],
  ['--make-shared', disk],
]) {
  await run('mount', args, { signal, deadlineMs: 10_000 });
}
await mkdir(paths.at('/proc'), { recursive: true });
await run('mount', ['--rbind', '/proc', paths.at('/proc')], { signal, deadlineMs: 10_000 });

const cluster = await inPlaceConfigFile(paths).read();
if (cluster === undefined) throw new Error('no config');
const host = { paths, settings: defaultSettings, cluster, bootTime: async () => new Date() };
await coverFolders.run(host, progress);
if (!(await coverFolders.holds(host, progress))) throw new Error('not covered');
await openBundle.run(host, progress);
await chmod(paths.at('/opt/openshift/tls/ca.key'), 0o400);

if (action === 'install') {
  await writeFile(paths.masterIgnition, process.env.MASTER ?? '');
  const description = clusterSchema.parse({
    ...{ apiVersion: 'sno-agents/v1', controlPlane: 'kubernetes', inPlace: true },
    ...{ clusterId: cluster.clusterId, name: cluster.name, baseDomain: cluster.baseDomain },
    ...{ machineNetwork: ['192.0.2.0/24'], serviceNetwork: ['172.30.0.0/16'] },
    clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
    executableSha256: 'a'.repeat(64),
  });
  const context: HostContext = {
    ...{ ...host, cluster: description, hostname: () => 'edge-0' },
    withAdministrator: () => Promise.reject(new Error('no API')),
    withEtcd: () => Promise.reject(new Error('no etcd')),
  };
  await stage.run(context, progress);
  if (!(await stage.holds(context, progress))) throw new Error('not staged');
  const onDisk = commit(() => underlying(paths));
  await onDisk.run(context, progress);
  if (!(await onDisk.holds(context, progress))) throw new Error('not committed');
}
const seen = await readdir(paths.at('/etc/kubernetes'));
process.stdout.write(JSON.stringify({ seen, state: await readdir(dirname(paths.executable)) }));
