import t from 'tap';
import { runLab } from './lab.ts';

/** On a fresh machine the components are built first. */
const DEADLINE_MINUTES = 55;

t.test(
  'a host without DHCP downloads, installs, and keeps its network and a partition',
  async (t) => {
    const { exitCode, output, result, left } = await runLab('static-network', DEADLINE_MINUTES);
    t.equal(exitCode, 0, output.split('\n').slice(-12).join('\n'));
    t.match(result, { scenario: 'static-network', ok: true });
    t.same(left, [], 'the lab leaves nothing on the machine');
  },
);
