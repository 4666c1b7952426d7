import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { readGoYaml } from '../../base/go-yaml/read.ts';

/** etcd of a bootstrap, as its static pod states it. */
export interface RenderedEtcdMember {
  readonly name: string;
  readonly peerUrl: string;
  /** Of the cluster, which is part of the member's identity. */
  readonly token: string;
  readonly image: string;
}

const podSchema = z.object({
  spec: z.object({
    containers: z.array(
      z.object({
        name: z.string(),
        image: z.string(),
        command: z.array(z.string()).default([]),
        args: z.array(z.string()).default([]),
        env: z.array(z.object({ name: z.string(), value: z.string().optional() })).default([]),
      }),
    ),
  }),
});

/** etcd's own, which no release of OpenShift changes. */
const DEFAULT_TOKEN = 'etcd-cluster';

/**
 * The member that a rendered pod starts. Its arguments are in a shell script; etcd also takes each of
 * them from the environment, and the argument wins (etcd, pkg/flags).
 * @throws Failure (fatal) if the pod states no name or no URL for peers
 */
export function etcdMemberOf(manifest: string): RenderedEtcdMember {
  const parsed = podSchema.safeParse(readGoYaml(manifest));
  const container = parsed.data?.spec.containers.find(({ name }) => name === 'etcd');
  if (container === undefined) throw unusable('a pod with the container etcd', 'none');
  const script = [...container.command, ...container.args].join(' ');
  const stated = (flag: string): string | undefined => {
    const variable = `ETCD_${flag.toUpperCase().replaceAll('-', '_')}`;
    const argument = new RegExp(`--${flag}[= ]["']?([^\\s"'\\\\]+)`).exec(script)?.[1];
    return argument ?? container.env.find(({ name }) => name === variable)?.value;
  };
  const name = stated('name');
  const peerUrl = stated('initial-advertise-peer-urls');
  if (name === undefined) throw unusable('the name of the member (ETCD_NAME)', 'no name');
  if (peerUrl === undefined || !URL.canParse(peerUrl)) {
    throw unusable('one URL for peers (--initial-advertise-peer-urls)', peerUrl ?? 'no URL');
  }
  const token = stated('initial-cluster-token') ?? DEFAULT_TOKEN;
  return { name, peerUrl, token, image: container.image };
}

const unusable = (expected: string, found: string) =>
  new Failure('fatal', "etcd's rendered static pod does not say how to restore its member", {
    code: 'snapshot-unusable',
    expected,
    found,
  });
