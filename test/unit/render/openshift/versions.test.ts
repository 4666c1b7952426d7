import t from 'tap';
import { knownMinor } from '../../../../lib/render/openshift/versions.ts';

t.test('releases by their minor version', async (t) => {
  for (const [version, minor] of [
    ['4.14.0', '4.14'],
    ['4.21.3', '4.21'],
    ['4.19.0-0.nightly-2026-01-01-000000', '4.19'],
    ['4.20.0-okd-scos.1', '4.20'],
    ['4.22.0-rc.1', '4.22'],
  ] as const) {
    t.equal(knownMinor(version), minor, version);
  }
});

t.test('releases that the table does not describe are named', async (t) => {
  for (const version of ['4.13.9', '4.23.0', '5.0.0', '3.11.0', '4.9.1', 'latest', '']) {
    t.throws(
      () => knownMinor(version),
      { kind: 'fatal', message: /cannot be rendered; expected a release from 4\.14 to 4\.22/ },
      version,
    );
  }
});
