import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { KERNEL_ARGUMENT, PROXY } from '../site-inputs.ts';
import type { ClusterCheck, DiskCheck } from './check.ts';

export const kernelArgument: DiskCheck = {
  name: 'the boot entry has the kernel argument of the site',
  run: async ({ boot }) => {
    const folder = join(boot, 'loader/entries');
    const names = await readdir(folder);
    if (names.length === 0) throw new Failure('fatal', 'the disk has no boot entry');
    for (const name of names) {
      const entry = await readFile(join(folder, name), 'utf8');
      const options = /^options (.*)$/m.exec(entry)?.[1] ?? '';
      if (!options.split(' ').includes(KERNEL_ARGUMENT)) {
        throw new Failure('fatal', name, { expected: KERNEL_ARGUMENT, found: options });
      }
    }
  },
};

const FILES = {
  'etc/sno-agents/proxy.env': 0o600,
  'etc/pki/ca-trust/source/anchors/sno-additional-trust-bundle.crt': 0o644,
  'etc/containers/registries.conf.d/50-sno-mirrors.conf': 0o644,
  'etc/containerd/certs.d/quay.io/hosts.toml': 0o644,
  'etc/chrony.conf': 0o644,
};

export const siteOnHost: ClusterCheck = {
  name: 'the installed host has what the site gave, and its services the proxy',
  run: async ({ host }, signal) => {
    for (const [path, mode] of Object.entries(FILES)) {
      const found = (await stat(join(host.rootDir, path))).mode & 0o777;
      if (found !== mode) {
        throw new Failure('fatal', path, { expected: mode.toString(8), found: found.toString(8) });
      }
    }
    const within = { timeoutMs: 20_000 };
    for (const unit of ['containerd', 'kubelet']) {
      const ask = ['systemctl', 'show', '--property=MainPID', '--value', `${unit}.service`];
      const pid = (await host.exec(ask, within, signal)).stdout.trim();
      const { stdout } = await host.exec(['cat', `/proc/${pid}/environ`], within, signal);
      if (!stdout.split('\0').includes(`https_proxy=${PROXY}`)) {
        throw new Failure('fatal', `${unit} runs without the proxy`);
      }
    }
  },
};
