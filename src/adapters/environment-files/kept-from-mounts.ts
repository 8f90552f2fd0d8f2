/**
 * What no environment may mount: the home of Wakechart, what holds the keys of people and of the system, and what is
 * not files at all.
 */
import { join } from 'node:path';

/** In the home folder of the user who runs Wakechart. */
const OF_PEOPLE = [
  '.ssh',
  '.aws',
  '.gnupg',
  '.azure',
  '.kube',
  '.docker',
  '.config/gh',
  '.config/gcloud',
  '.config/op',
  '.local/share/keyrings',
  '.password-store',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  '.claude',
  '.codex',
  'Library/Keychains',
];

const OF_THE_SYSTEM = [
  '/proc',
  '/sys',
  '/dev',
  '/run',
  '/var/run',
  '/boot',
  '/etc/shadow',
  '/etc/gshadow',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/ssh',
  '/etc/ssl/private',
];

/** @param userHome absolute */
export function placesOfSecrets(userHome: string): readonly string[] {
  return [...OF_THE_SYSTEM, ...placesOfKeys(userHome)];
}

/** What people keep in their home folder. @param userHome absolute */
export function placesOfKeys(userHome: string): readonly string[] {
  return OF_PEOPLE.map((name) => join(userHome, name));
}

/** A process that can connect to them owns the machine. */
export const SOCKETS_OF_CONTAINERS = ['docker.sock', 'podman.sock', 'containerd.sock', 'crio.sock', 'buildkitd.sock'];
