import { parse } from 'yaml';
import { z } from 'zod';
import type { RenderedFile, StaticPod } from '../../lib/render/renderer.ts';

/** Where a rendered host is run, instead of at `/` with its own ports. */
export interface Place {
  /** Absolute path of the folder used as the host's root. */
  readonly root: string;
  /** Port on this machine by rendered port. */
  readonly ports: ReadonlyMap<number, number>;
}

/** Flags whose value is a path on the host. */
const PATH_FLAGS = new Set([
  'audit-log-path',
  'audit-policy-file',
  'admission-control-config-file',
  'authentication-config',
  'authentication-kubeconfig',
  'authorization-kubeconfig',
  'cert-file',
  'client-ca-file',
  'config',
  'data-dir',
  'encryption-provider-config',
  'etcd-cafile',
  'etcd-certfile',
  'etcd-keyfile',
  'flex-volume-plugin-dir',
  'key-file',
  'kubeconfig',
  'kubelet-certificate-authority',
  'kubelet-client-certificate',
  'kubelet-client-key',
  'peer-cert-file',
  'peer-key-file',
  'peer-trusted-ca-file',
  'proxy-client-cert-file',
  'proxy-client-key-file',
  'requestheader-client-ca-file',
  'root-ca-file',
  'service-account-key-file',
  'service-account-private-key-file',
  'service-account-signing-key-file',
  'tls-cert-file',
  'tls-private-key-file',
  'trusted-ca-file',
]);
const SIGNER_FILE = /^cluster-signing-[a-z-]+-(cert|key)-file$/;

/** Flags whose value is a port, or contains URLs on loopback. */
const PORT_FLAGS = new Set(['secure-port']);
const URL_FLAGS = new Set([
  'advertise-client-urls',
  'etcd-servers',
  'initial-advertise-peer-urls',
  'initial-cluster',
  'listen-client-urls',
  'listen-metrics-urls',
  'listen-peer-urls',
]);

const podSchema = z.object({
  spec: z.object({ containers: z.tuple([z.object({ command: z.array(z.string()).min(1) })]) }),
});

/**
 * The command of a rendered static pod, changed only in its ports and in paths, which are moved
 * below the root.
 * @throws Error for an unknown flag with a path or a local address: it would reach out of the
 *   root.
 */
export function relocatedCommand(
  { component, manifest }: Pick<StaticPod, 'component' | 'manifest'>,
  place: Place,
) {
  const [program = '', ...flags] = podSchema.parse(parse(manifest)).spec.containers[0].command;
  return { program, args: flags.map((flag) => relocatedFlag(component, flag, place)) };
}

function relocatedFlag(component: string, flag: string, place: Place): string {
  const [, name = '', value = ''] = /^--([a-z0-9-]+)=(.*)$/.exec(flag) ?? [];
  if (PATH_FLAGS.has(name) || SIGNER_FILE.test(name)) return `--${name}=${place.root}${value}`;
  if (PORT_FLAGS.has(name)) return `--${name}=${portOf(Number(value), place)}`;
  if (URL_FLAGS.has(name)) return `--${name}=${relocatedUrls(value, place)}`;
  if (name !== '' && !/(^|[,=:])\/[a-z]|127\.0\.0\.1:/.test(value)) return flag;
  throw new Error(`${component}: unknown flag ${flag} with a path or an address`);
}

/** Relocates a rendered file: configurations contain the host's paths and addresses. */
export function relocatedFile(file: RenderedFile, place: Place): RenderedFile {
  if (!/\.ya?ml$|kubeconfig$/.test(file.path)) return file;
  const paths = file.contents.replaceAll(/: (?=\/(etc|var)\/)/g, `: ${place.root}`);
  return { ...file, contents: relocatedUrls(paths, place) };
}

const relocatedUrls = (text: string, place: Place) =>
  text.replaceAll(/127\.0\.0\.1:(\d+)/g, (_, port) => `127.0.0.1:${portOf(Number(port), place)}`);

function portOf(rendered: number, { ports }: Place): number {
  const port = ports.get(rendered);
  if (port === undefined) throw new Error(`rendered port ${rendered} has no port on this machine`);
  return port;
}
