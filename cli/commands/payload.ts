import type { Command } from 'commander';
import { createPayload, type PayloadOptions } from '../create/payload.ts';
import { acceptUntested } from '../payload/accept.ts';
import type { Surroundings } from '../surroundings.ts';

const each = (value: string, values: readonly string[] = []) => [...values, value];

/** `sno create payload`. */
export function addCreatePayload(create: Command, surroundings: Surroundings): void {
  create
    .command('payload')
    .description(
      'create DIR, a payload for hosts without a registry: images and programs with their digests, which are fetched (--kubernetes) or given as files (--image, --binary, --cni)',
    )
    .requiredOption('--dir <dir>', 'the new folder; its parent folder must exist')
    .option(
      '--kubernetes <version>',
      'fetch all parts of this version: v1.37.2, stable-1.37 or stable; writes DIR.lock.yaml, which pins them',
    )
    .option('--arch <architecture>', 'of the hosts: amd64 or arm64 (default: amd64)')
    .option(
      '--without <name>',
      'leave out kube-proxy, coredns, local-path-provisioner or flannel',
      each,
    )
    .option('--lock <file>', 'fetch exactly what this DIR.lock.yaml of an earlier run pins')
    .option(
      '--registry <mirror>',
      'fetch images from HOST[/PATH] instead, which has those of REGISTRY below HOST/PATH/REGISTRY; or from REGISTRY=HOST[/PATH]',
      each,
    )
    .option(
      '--downloads <mirror>',
      'fetch programs from https://HOST[/PATH] instead, which has those of SITE below https://HOST/PATH/SITE; or from SITE=https://HOST[/PATH]',
      each,
    )
    .option('--pull-secret <file>', 'logins of registries (default: those of "skopeo login")')
    .option(
      '--parts <dir>',
      'keep what is fetched in this folder, for later runs (default: DIR.parts, deleted after success)',
    )
    .option(
      '--image <name=file>',
      'an image, from a docker archive, an OCI archive (either may be compressed with gzip or zstd) or a static program; required: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, pause; for Services, cluster DNS and volumes also: kube-proxy, coredns, local-path-provisioner; for workers: flannel',
      each,
    )
    .option(
      '--reference <name=reference>',
      'selects an image of an archive, or gives a program its reference; required if an archive does not have exactly one image named .../NAME:TAG, and for programs other than those of Kubernetes and etcd',
      each,
    )
    .option(
      '--binary <name=file>',
      'a program for the host itself; required: etcdutl, kubelet',
      each,
    )
    .option('--cni <dir>', 'a folder with network plugins: every program in it', each)
    .option(
      '--kubernetes-version <version>',
      'required if neither tags nor programs state it; it cannot contradict them',
    )
    .option(
      '--etcd-version <version>',
      'required if neither the tag nor a program states it; it cannot contradict them; with --kubernetes: another one than that which it is released with',
    )
    .option(
      '--compress',
      'compress its files with zstd, which hosts undo: for slow media, metered networks and many hosts',
    )
    .option(...acceptUntested)
    .action((options: PayloadOptions) => createPayload(options, surroundings));
}
