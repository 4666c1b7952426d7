import { Failure } from '../../lib/base/errors/failure.ts';
import type { Problem } from '../../lib/base/errors/problem.ts';
import type { Cluster } from '../../lib/config/cluster/cluster.ts';
import { certificatesOf, trustBundleProblem } from '../../lib/config/site/trust-bundle.ts';
import { readGivenFile } from '../../lib/host/given-file.ts';
import { unreadByGo } from '../../lib/pki/read-by-go.ts';
import { type IgnitionConfig, serializeConfig } from '../../lib/render/ignition/config.ts';
import { dataUrl, sha512Hash } from '../../lib/render/ignition/data-url.ts';
import { BASE_SPEC } from '../../lib/render/ignition/entries.ts';

export interface ConfigUrlOptions {
  /** Where the live host fetches its config, https. Who knows it can read the secrets of the site. */
  configUrl?: string;
  /** A file with certificates that it trusts for that, besides those of its operating system. */
  configUrlCa?: string;
}

/** Where a config is served, found to be sound. */
export interface ConfigPlace {
  readonly url: string;
  /** The last part of the URL: the name of the file to be uploaded. */
  readonly name: string;
  /** PEM. */
  readonly authorities: string | undefined;
}

/** No hidden file, and nothing that a web server or a shell would interpret. */
const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,200}$/;

/**
 * Undefined if the config is to be embedded. The URL is never quoted: it is as secret as the config. @throws Failure
 * (usage)
 */
export async function configPlace(
  { configUrl, configUrlCa }: ConfigUrlOptions,
  option = '--config-url',
): Promise<ConfigPlace | undefined> {
  if (configUrl === undefined) {
    if (configUrlCa === undefined) return undefined;
    throw new Failure('usage', `${option}-ca: only with ${option}; nothing was written`);
  }
  const problem = urlProblem(configUrl);
  if (problem !== undefined) refuse(option, problem);
  const authorities =
    configUrlCa === undefined ? undefined : await readAuthorities(configUrlCa, `${option}-ca`);
  return { url: configUrl, name: fileNameOf(configUrl), authorities };
}

function refuse(option: string, problem: Problem): never {
  throw new Failure('usage', `${option} is not valid; nothing was written`, { ...problem });
}

const fileNameOf = (url: string) => new URL(url).pathname.split('/').at(-1) ?? '';

function urlProblem(text: string): Problem | undefined {
  const expected = 'an https URL of a file, such as https://files.example.com/6f1c.../site.ign';
  const fault = (found: string, fix = 'Check scheme, host, port and path.') => ({
    expected,
    found,
    fix,
  });
  if (/[^!-~]|["'<>\\^`{|}]/.test(text) || !URL.canParse(text)) {
    return fault('a string that is not a URL');
  }
  const { protocol, username, password, hash } = new URL(text);
  if (protocol !== 'https:') {
    return fault(`a URL of ${protocol.slice(0, -1)}`, 'The config has secrets: it requires TLS.');
  }
  if (username !== '' || password !== '') {
    return fault('a user or password', 'Ignition sends none: use a path that nobody can guess.');
  }
  if (hash !== '') return fault('a fragment', 'Remove # and everything after it.');
  if (FILE_NAME.test(fileNameOf(text))) return undefined;
  return fault('no plain file name at the end of its path');
}

async function readAuthorities(path: string, option: string): Promise<string> {
  const text = await readGivenFile(path, option);
  const problem = trustBundleProblem(text);
  if (problem !== undefined) refuse(`${option} ${path}`, problem);
  const unread = certificatesOf(text)
    .map((each) => unreadByGo(each, true))
    .find(Boolean);
  if (unread !== undefined) {
    refuse(`${option} ${path}`, {
      expected: 'certificates that Ignition reads, as all programs in Go',
      found: `one with ${unread}`,
      fix: 'Leave it out, or let the authority issue another one.',
    });
  }
  return text;
}

/** @throws Failure (usage) if the host could not reach a server before it has its config */
export function requireFetchable(
  { networkConfig }: Pick<Cluster, 'networkConfig'>,
  { option, without } = { option: '--config-url', without: 'the config is then on the ISO' },
): void {
  if (networkConfig === undefined) return;
  throw new Failure('usage', `${option}: not with networkConfig; nothing was written`, {
    expected:
      'a network with DHCP, since the host fetches the config before it knows of networkConfig',
    fix: `Leave out ${option}: ${without}.`,
  });
}

/** The text of a config that has the live host fetch `config`, and refuse anything else from there. */
export function pointerTo(
  config: string,
  { proxy }: Pick<Cluster, 'proxy'>,
  { url, authorities }: ConfigPlace,
): string {
  const tls =
    authorities === undefined ? undefined : { certificateAuthorities: [dataUrl(authorities)] };
  const pointer: IgnitionConfig = {
    ignition: {
      version: BASE_SPEC,
      config: { replace: { source: url, verification: { hash: sha512Hash(Buffer.from(config)) } } },
      ...(tls === undefined ? {} : { security: { tls } }),
      ...(proxy === undefined ? {} : { proxy }),
    },
  };
  return serializeConfig(pointer);
}
