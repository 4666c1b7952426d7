/** The web server's configuration that hubs are given, by the real nginx. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { z } from 'zod';
import { createAuthority, issueLeaf } from '../../../lab/certificates/signed-now.ts';
import { installPackages } from '../../../lab/components/debian-packages.ts';
import { freePort } from '../../../lab/servers/free-port.ts';
import { readGoDocuments } from '../../../lib/base/go-yaml/read.ts';

const NGINX = '/usr/sbin/nginx';
const FILE = 'deploy/fleet/web-server.yaml';
const START_MS = 60_000;
const configMap = z.object({
  kind: z.literal('ConfigMap'),
  data: z.object({ 'default.conf': z.string() }),
});

const canInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
if (!existsSync(NGINX) && canInstall) {
  await installPackages(['nginx-light'], AbortSignal.timeout(10 * 60_000));
}
const skip = existsSync(NGINX) ? false : 'no nginx, and no root with apt-get to install it';

/** The container's paths, below a folder of this machine. */
async function configuration(folder: string, port: number): Promise<string> {
  const documents = readGoDocuments(await readFile(FILE, 'utf8'));
  const [found] = documents.flatMap((each) =>
    'value' in each ? (configMap.safeParse(each.value).data ?? []) : [],
  );
  if (found === undefined) throw new Error(`${FILE} has no ConfigMap`);
  const server = found.data['default.conf']
    .replaceAll('8443', `${port}`)
    .replaceAll('/etc/nginx/tls', join(folder, 'tls'))
    .replaceAll('/srv/sites', join(folder, 'sites'));
  const own = ['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (each) => `${each === 'body' ? 'client_body' : each}_temp_path ${join(folder, each)};`,
  );
  return `daemon off; pid ${join(folder, 'pid')}; user root; worker_processes 1;
    error_log stderr; events {} http { access_log ${join(folder, 'access.log')}; ${own.join(' ')} ${server} }`;
}

t.test('volumes are served, and nothing else is', { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'nginx-'));
  await chmod(folder, 0o755);
  t.teardown(() => rm(folder, { recursive: true }));
  const sites = join(folder, 'sites');
  await mkdir(join(sites, 'sub'), { recursive: true });
  await mkdir(join(folder, 'tls'));
  const iso = Buffer.alloc(1 << 20, 7);
  await writeFile(join(sites, 'abc.iso'), iso);
  await writeFile(join(sites, 'cz1234.site'), iso);
  await writeFile(join(sites, '.abc.iso.1234'), 'being written');
  await writeFile(join(folder, 'secret'), 'secret');
  await symlink(join(folder, 'secret'), join(sites, 'link.iso'));
  const authority = await createAuthority('web');
  const profile = {
    subject: { commonName: 'web' },
    usage: 'server',
    dnsNames: ['localhost'],
  } as const;
  const { certificate, key } = await issueLeaf(authority, profile);
  await writeFile(join(folder, 'tls/tls.crt'), certificate);
  await writeFile(join(folder, 'tls/tls.key'), key, { mode: 0o600 });
  await writeFile(join(folder, 'ca.crt'), authority.certificate);
  const port = await freePort();
  await writeFile(join(folder, 'nginx.conf'), await configuration(folder, port));

  const nginx = execa(NGINX, ['-p', folder, '-c', join(folder, 'nginx.conf')], { reject: false });
  t.teardown(async () => {
    nginx.kill('SIGTERM');
    await nginx;
  });
  const curl = async (path: string, ...more: string[]) => {
    const as = ['--silent', '--cacert', join(folder, 'ca.crt'), '--path-as-is', '--max-time', '30'];
    const told = [
      '--output',
      join(folder, 'answer'),
      '--write-out',
      '%{http_code} %{size_download}',
    ];
    const all = [...as, ...told, ...more, `https://localhost:${port}${path}`];
    return (await execa('curl', all, { timeout: 60_000, reject: false })).stdout;
  };
  const started = ['--retry', '30', '--retry-all-errors', '--retry-max-time', `${START_MS / 1000}`];
  t.equal(await curl('/healthz', ...started), '204 0');

  for (const path of ['/abc.iso', '/cz1234.site'])
    t.equal(await curl(path), `200 ${iso.length}`, path);
  t.equal(await curl('/abc.iso', '--range', '0-32767'), '206 32768', 'as BMCs read it');
  t.equal(await curl('/abc.iso', '--head'), '200 0');
  for (const [path, ...more] of [
    ['/'],
    ['/sub/'],
    ['/sub'],
    ['/none.iso'],
    ['/.abc.iso.1234'],
    ['/sub/../.abc.iso.1234'],
    ['/%2eabc.iso.1234'],
    ['/../secret'],
    ['/..%2fsecret'],
    ['/link.iso'],
    ['/abc.iso', '--request', 'PUT', '--data', 'x'],
    ['/abc.iso', '--request', 'DELETE'],
    ['/abc.iso', '--request', 'POST', '--data', 'x'],
  ] as const) {
    t.match(await curl(path, ...more), /^(?:40[0345]) /, `${more[1] ?? 'GET'} ${path}`);
  }
  t.same(await readFile(join(sites, 'abc.iso')), iso, 'nobody has written');
  t.equal(
    await readFile(join(folder, 'access.log'), 'utf8').catch(() => ''),
    '',
    'no path is logged',
  );
  t.equal(await curl('/healthz', '--tls-max', '1.1'), '000 0', 'an old TLS is refused');
});
