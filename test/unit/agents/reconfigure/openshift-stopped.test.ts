/** An agent of OpenShift that is told to stop waits for no program; requests: openshift-{objects,routes}.test.ts. */
import t from 'tap';
import { siteClockOnOpenShift } from '../../../../agents/reconfigure/openshift/clock.ts';
import { preparedHostFaults } from '../../../../agents/reconfigure/openshift/host-checks.ts';
import { localNames } from '../../../../agents/reconfigure/openshift/local-names.ts';
import { siteNetworkOnOpenShift } from '../../../../agents/reconfigure/openshift/network.ts';
import { startOpenShift } from '../../../../agents/reconfigure/openshift/start.ts';
import { stopOpenShift } from '../../../../agents/reconfigure/openshift/stop.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import type { Progress } from '../../../../lib/engine/steps/progress.ts';
import { daysMs } from '../../../../lib/pki/lifetimes.ts';
import type { TestHost } from '../host/host.ts';
import { NODE, openShiftHost } from '../relocatable/openshift-host.ts';
import { DHCP_SITE, openShiftArrived } from './openshift-site.ts';

/** Has a program hang when it is called that way. */
function hanging(host: TestHost, call: string): void {
  const [program = '', ...args] = call.split(' ');
  const hangs = 'touch "$ROOT/hangs"; exec sleep 20';
  host.programs.unless(program, `[ "$*" = "${args.join(' ')}" ] && { ${hangs}; }`);
}

for (const [step, calls] of [
  [
    siteNetworkOnOpenShift,
    [
      'nmcli --terse --escape no --fields UUID,NAME connection show',
      'nmcli --wait 30 connection delete uuid uuid-br-ex',
      'ovs-vsctl --timeout=30 --if-exists del-br br-ex',
      'systemctl restart nodeip-configuration.service',
      'systemctl restart ovs-configuration.service',
    ],
  ],
  [
    stopOpenShift,
    [
      'systemctl stop kubelet.service',
      'systemctl show crio.service --property=ActiveState',
      'systemctl stop kubelet-dependencies.target',
      'systemctl stop ovs-configuration.service',
      'systemctl stop crio.service',
    ],
  ],
  [localNames, ['systemctl restart dnsmasq.service']],
  [startOpenShift, ['systemctl daemon-reload', 'systemctl start --no-block kubelet.service']],
] as const) {
  for (const call of calls) {
    t.test(`${step.name}: told to stop during "${call}"`, async (t) => {
      const { host, context } = await openShiftArrived(t);
      hanging(host, call);
      const run = (progress: Progress) => step.run(context, progress);
      const ended = await host.stoppedAt('/hangs', run);
      t.match(ended, { message: `${call}` });
      t.match(ended, { message: /found stopped after/ });
      if (step !== siteNetworkOnOpenShift || !call.startsWith('systemctl')) return;
      const last = host.programs.calls('systemctl').at(-1);
      t.equal(last, call.replace('restart', 'stop'), 'it would go on by itself');
    });
  }
}

t.test('clock: told to stop while the time servers are asked', async (t) => {
  const { host, context } = await openShiftArrived(t);
  const early = new Date(Date.now() + daysMs(90));
  const { certificate } = await createAuthority('an operator', undefined, early);
  host.write('/var/lib/kubelet/pki/kubelet-client-current.pem', certificate, 0o600);
  host.programs.give('chronyc', 'touch "$ROOT/hangs"; exec sleep 20');
  await host.stoppedAt('/hangs', (progress) => siteClockOnOpenShift.run(context, progress));
  t.match(host.lines.join(''), /chronyc.*found stopped after/);
});

for (const [step, call] of [
  [stopOpenShift, 'systemctl show kubelet.service --property=ActiveState'],
  [siteNetworkOnOpenShift, 'ip -json address show'],
] as const) {
  t.test(`${step.name}: told to stop while it is asked whether it holds`, async (t) => {
    const { host, context } = await openShiftArrived(t, { config: DHCP_SITE });
    hanging(host, call);
    const holds = (progress: Progress) => step.holds(context, progress);
    t.match(await host.stoppedAt('/hangs', holds), { message: /found stopped after/ });
  });
}

for (const [call, says] of [
  ['systemd-run', /^told to stop$/],
  ['nmstatectl show', /^told to stop$/],
  ['nmcli --terse --escape no --fields UUID,NAME connection show', /found stopped after/],
  ['systemctl show kubelet.service --property=Environment', /found stopped after/],
  [
    'systemctl show nodeip-configuration.service --property=LoadState,Result',
    /found stopped after/,
  ],
  ['ip -json address show', /found stopped after/],
] as const) {
  t.test(`checks of a host: told to stop during "${call}", they have found nothing`, async (t) => {
    const host = openShiftHost(t);
    if (call === 'systemd-run') host.programs.give(call, 'touch "$ROOT/hangs"; exec sleep 20');
    else hanging(host, call);
    const check = ({ signal }: Progress) => preparedHostFaults(host.paths, NODE, undefined, signal);
    t.match(await host.stoppedAt('/hangs', check), { message: says });
  });
}
