import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { writeGoYaml } from '../../lib/base/go-yaml/write.ts';
import { createAuthority, issueLeaf } from '../certificates/signed-now.ts';
import { ensureComponent } from '../components/component.ts';
import { MIRROR_NAMESPACE, openshiftRegistry } from '../components/openshift/registry-storage.ts';
import { REGISTRY_PROGRAM, registry } from '../components/registry.ts';
import { eventually } from '../eventually.ts';
import { BRIDGE_ADDRESS } from '../host/network.ts';
import type { LabContext } from '../scenario.ts';
import { startDaemon } from '../servers/daemon.ts';

const PORT = 5000;
const ADDRESS = `${BRIDGE_ADDRESS}:${PORT}`;
const START_MS = 30_000;
const LIFETIME_MS = 60 * 60_000;

/** The site's mirror of the release's images. */
export const MIRROR = `${ADDRESS}/${MIRROR_NAMESPACE}`;

/**
 * Serves the release's images on the site's bridge, read-only. Returns the certificate of the
 * authority that signed the registry's.
 */
export async function serveRelease({ folder, out, teardown, signal }: LabContext): Promise<string> {
  const within = { signal, report: () => undefined };
  const storage = await ensureComponent(openshiftRegistry, within);
  const program = join(await ensureComponent(registry, within), REGISTRY_PROGRAM);
  const authority = await createAuthority('Authority of the site');
  const tls = await issueLeaf(authority, {
    subject: { commonName: 'registry' },
    usage: 'server',
    ipAddresses: [BRIDGE_ADDRESS],
  });
  const [certificate, key] = [join(folder, 'registry.crt'), join(folder, 'registry.key')];
  await writeFile(certificate, tls.certificate);
  await writeFile(key, tls.key, { mode: 0o600 });
  const config = join(folder, 'registry.yaml');
  await writeFile(
    config,
    writeGoYaml({
      version: '0.1',
      log: { level: 'info', accesslog: { disabled: false } },
      storage: {
        filesystem: { rootdirectory: storage },
        maintenance: { readonly: { enabled: true } },
      },
      http: { addr: ADDRESS, tls: { certificate, key } },
    }),
  );
  const log = join(out, 'registry.log');
  const daemon = startDaemon(program, ['serve', config], log, LIFETIME_MS);
  teardown.add('stop the registry', () => daemon.stop());
  await eventually(() => accepted(ADDRESS), START_MS, signal);
  return authority.certificate;
}

async function accepted(address: string): Promise<void> {
  const [host, port] = address.split(':');
  const socket = connect(Number(port), host);
  await once(socket, 'connect');
  socket.destroy();
}
