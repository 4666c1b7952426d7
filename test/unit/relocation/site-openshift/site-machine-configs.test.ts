/** The MachineConfigs of a site, beside what others have put into them. */
import t from 'tap';
import { INSTALLED } from './installed-objects.ts';
import { MINIMAL, placeOf, plain, SSH_KEY, startSiteApi } from './site-api.ts';
import { WANTED } from './written-objects.ts';

const FOLDER = '/apis/machineconfiguration.openshift.io/v1/machineconfigs';
const SSH = `${FOLDER}/99-master-ssh`;
const TIME = `${FOLDER}/99-master-sno-site-time`;
const KEYS = `${MINIMAL}ssh_key: ${SSH_KEY}\n`;
const SERVERS = `${MINIMAL}allowRestart: true\nadditionalNTPSources: [ntp.site.test]\n`;

const machineConfig = (name: string, spec: object, labels: object = {}) => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfig',
  metadata: { name, labels },
  spec,
});

t.test('keys of core are replaced: other users, groups, files and arguments stay', async (t) => {
  const config = {
    ignition: { version: '3.4.0' },
    passwd: {
      groups: [{ name: 'shop' }],
      users: [
        { name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAA factory'], passwordHash: 'earlier' },
        { name: 'shop', sshAuthorizedKeys: ['ssh-ed25519 AAAA shop'] },
      ],
    },
    storage: { files: [{ path: '/etc/motd' }] },
  };
  const before = machineConfig(
    '99-master-ssh',
    { config, kernelArguments: ['quiet'] },
    { by: 'hand' },
  );
  const { carryOut, writes, api } = await startSiteApi(t, [
    ...INSTALLED.filter((each) => placeOf(each) !== SSH),
    before,
  ]);
  await carryOut(KEYS);
  t.equal(writes()[3], `PUT ${SSH}`);
  const users = [
    { name: 'shop', sshAuthorizedKeys: ['ssh-ed25519 AAAA shop'] },
    { name: 'core', sshAuthorizedKeys: [SSH_KEY] },
  ];
  const wanted = { ...config, passwd: { ...config.passwd, users } };
  t.strictSame(plain(api.get(SSH)), {
    ...before,
    spec: { config: wanted, kernelArguments: ['quiet'] },
  });
  await carryOut(KEYS);
  t.strictSame(writes(), [], 'again');
});

for (const [what, spec] of [
  ['no configuration', { kernelArguments: ['quiet'] }],
  ['no users', { config: { ignition: { version: '3.2.0' }, passwd: {} } }],
  ['nothing of users', { config: { ignition: { version: '3.2.0' } } }],
] as const) {
  t.test(`keys in a MachineConfig with ${what}: it is an Ignition config`, async (t) => {
    const before = machineConfig('99-master-ssh', spec);
    const { carryOut, api } = await startSiteApi(t, [
      ...INSTALLED.filter((each) => placeOf(each) !== SSH),
      before,
    ]);
    await carryOut(KEYS);
    const users = [{ name: 'core', sshAuthorizedKeys: [SSH_KEY] }];
    const config = { ignition: { version: '3.2.0' }, passwd: { users } };
    t.strictSame(plain(api.get(SSH)), { ...before, spec: { ...spec, config } });
  });
}

t.test('a MachineConfig of keys that was deleted is made for the pool of the node', async (t) => {
  const others = INSTALLED.filter((each) => placeOf(each) !== SSH);
  const { carryOut, writes, state } = await startSiteApi(t, others);
  await carryOut(KEYS);
  t.equal(writes()[3], `POST ${FOLDER}`);
  t.strictSame(state()[SSH], WANTED[SSH]);
});

t.test(
  'time servers of an earlier site are replaced, with everything in that configuration',
  async (t) => {
    const before = machineConfig(
      '99-master-sno-site-time',
      {
        config: {
          ignition: { version: '3.2.0' },
          storage: { files: [{ path: '/etc/earlier' }] },
          systemd: { units: [{ name: 'earlier.service' }] },
        },
        osImageURL: '',
      },
      { 'machineconfiguration.openshift.io/role': 'master', by: 'hand' },
    );
    const { carryOut, writes, api } = await startSiteApi(t, [...INSTALLED, before]);
    await carryOut(SERVERS);
    t.equal(writes()[3], `PUT ${TIME}`);
    const { spec } = Object(WANTED[TIME]);
    t.strictSame(plain(api.get(TIME)), { ...before, spec: { ...spec, osImageURL: '' } });
    await carryOut(SERVERS);
    t.strictSame(writes(), [], 'again');
  },
);

t.test('a site without time servers leaves those of the site before', async (t) => {
  const { carryOut, state } = await startSiteApi(t);
  await carryOut(SERVERS);
  await carryOut(MINIMAL);
  t.strictSame(state()[TIME], WANTED[TIME]);
});
