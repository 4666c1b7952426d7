import { cp, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { startDaemon } from '../../../lab/servers/daemon.ts';
import { freePort } from '../../../lab/servers/free-port.ts';
import { isInstalled } from '../../../lib/host/search-path.ts';
import type { KeyPair } from '../../../lib/pki/authority.ts';
import type { ForkApiServer } from './fork-api-server.ts';

/**
 * A folder with the program openshift-router, and beside it `images/router/haproxy` of its source. It is no part of this
 * repository, and no Go module that can be had.
 */
const given = process.env.SNO_OPENSHIFT_ROUTER;

/** Where its template and its script expect it. */
const HOME = '/var/lib/haproxy';

export async function noRouter(): Promise<string | false> {
  if (given === undefined) return 'needs SNO_OPENSHIFT_ROUTER';
  return (await isInstalled('haproxy')) ? false : 'needs haproxy';
}

export interface Router {
  readonly httpPort: number;
  readonly httpsPort: number;
  /** As the kubelet does it with the Secret of the IngressController. */
  mount(certificate: KeyPair): Promise<void>;
}

/** openshift-router with haproxy on loopback, in a mount and a process namespace of its own. */
export async function startRouter(
  t: Pick<Test, 'teardown'>,
  { folder, controlPlane }: Pick<ForkApiServer, 'folder' | 'controlPlane'>,
  certificate: KeyPair,
  lifetimeMs: number,
): Promise<Router> {
  const source = given ?? '';
  const home = join(folder, 'haproxy');
  await cp(join(source, 'images/router/haproxy'), home, { recursive: true });
  for (const each of ['router/certs', 'router/cacerts', 'router/allowlists', 'conf/.tmp']) {
    await mkdir(join(home, each), { recursive: true });
  }
  for (const each of ['run', 'bin', 'log', 'mtls', 'default']) await mkdir(join(home, each));
  const template = join(home, 'conf/haproxy-config.template');
  const text = await readFile(template, 'utf8');
  // Without ALPN is the only way before haproxy 2.8, which does not know the word.
  const local = text.replaceAll('bind :{{', 'bind 127.0.0.1:{{').replaceAll(' no-alpn', '');
  await writeFile(template, local);
  for (const name of ['os_http_be', 'os_edge_reencrypt_be', 'os_tcp_be', 'os_sni_passthrough']) {
    await writeFile(join(home, `conf/${name}.map`), '');
  }
  for (const name of ['os_route_http_redirect', 'cert_config', 'os_wildcard_domain']) {
    await writeFile(join(home, `conf/${name}.map`), '');
  }
  let version = 0;
  const mount = async (pair: KeyPair) => {
    version += 1;
    const at = join(home, 'default', `..${version}`);
    await mkdir(at);
    await writeFile(join(at, 'tls.key'), pair.key, { mode: 0o600 });
    await writeFile(join(at, 'tls.crt'), pair.certificate);
    await symlink(`..${version}`, join(home, 'default/..data_tmp'));
    await rename(join(home, 'default/..data_tmp'), join(home, 'default/..data'));
  };
  await mount(certificate);
  for (const name of ['tls.key', 'tls.crt']) {
    await symlink(`..data/${name}`, join(home, 'default', name));
  }
  const kubeconfig = join(folder, 'router.kubeconfig');
  const user = { name: 'router', groups: ['system:masters'] };
  await writeFile(kubeconfig, await controlPlane.kubeconfig(user), { mode: 0o600 });
  const [httpPort, httpsPort, statsPort] = [await freePort(), await freePort(), await freePort()];
  const variables = {
    TEMPLATE_FILE: join(HOME, 'conf/haproxy-config.template'),
    RELOAD_SCRIPT: join(HOME, 'reload-haproxy'),
    ROUTER_SERVICE_HTTP_PORT: String(httpPort),
    ROUTER_SERVICE_HTTPS_PORT: String(httpsPort),
    ROUTER_DOMAIN: 'apps.sno.factory.test',
    STATS_PORT: String(statsPort),
    DEFAULT_CERTIFICATE_DIR: join(HOME, 'default'),
    RELOAD_INTERVAL: '1s',
    KUBECONFIG: kubeconfig,
  };
  await mkdir(HOME, { recursive: true });
  const daemon = startDaemon(
    'unshare',
    [
      ...['--mount', '--pid', '--fork', '--mount-proc', '--kill-child'],
      ...['sh', '-c', 'mount --bind "$1" "$2" && shift 2 && exec "$@"', 'sh', home, HOME],
      ...['env', ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)],
      ...[join(source, 'openshift-router'), '--name=default', '--working-dir', HOME, '--v=2'],
    ],
    join(folder, 'router.log'),
    lifetimeMs,
  );
  t.teardown(() => daemon.stop());
  return { httpPort, httpsPort, mount };
}
