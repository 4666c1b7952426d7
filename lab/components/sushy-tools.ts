import { join } from 'node:path';
import { execa } from 'execa';
import type { Component } from './component.ts';

const PIP_MS = 10 * 60_000;

/** sushy-tools and what it needs, by version, from PyPI. */
const PACKAGES = [
  'sushy-tools==2.2.0',
  'bcrypt==5.0.0',
  'blinker==1.9.0',
  'certifi==2026.10.19.post1',
  'charset-normalizer==3.5.3',
  'click==8.5.1',
  'Flask==3.1.3',
  'idna==3.20',
  'itsdangerous==2.2.0',
  'Jinja2==3.1.6',
  'MarkupSafe==3.0.4',
  'pbr==7.1.3',
  'requests==2.34.2',
  'tenacity==9.2.1',
  'urllib3==2.8.0',
  'WebOb==1.8.11',
  'Werkzeug==3.1.9',
];

/** OpenStack's emulator of BMCs: Redfish, with a drive for virtual media. A folder for PYTHONPATH. */
export const sushyTools: Component = {
  name: 'sushy-tools',
  version: '2.2.0',
  recipe: [import.meta.filename],
  async build(target, { signal, report }) {
    report('pip install sushy-tools');
    const venv = join(target, 'venv');
    const limits = { cancelSignal: signal, timeout: PIP_MS };
    await execa('python3', ['-m', 'venv', venv], limits);
    const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary=:all:'];
    const python = join(venv, 'bin/python3');
    await execa(python, [...pip, '--target', join(target, 'packages'), ...PACKAGES], limits);
  },
};
