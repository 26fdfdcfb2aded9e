package org.vas.filesystem;

import java.time.Duration;
import org.vas.conf.ConfKey;

/** Declares the configuration keys of {@link LustreFileSystem}. */
public interface LustreConf {
  ConfKey<String> MOUNT = ConfKey.text("vas.lustre.mount", "",
      "Where Lustre is mounted on this machine. Not set: lustre.mount of the site description.");

  ConfKey<Long> BLOCK_SIZE = ConfKey.bytes("vas.lustre.block-size", "128m", "64k", "4194240k",
      "Block size, and therefore stripe size, of new files; a multiple of 64k.");

  ConfKey<Long> MIN_BLOCK_SIZE = ConfKey.bytes("vas.lustre.min-block-size", "16m", "64k", "1g",
      "The smallest stripe size that is reported as a file's block size. Files with smaller"
          + " stripes report vas.lustre.block-size, or every stripe of Lustre's own default"
          + " would become a map task.");

  ConfKey<Integer> STRIPE_COUNT = ConfKey.integer("vas.lustre.stripe-count", -1, -1, 2000,
      "OSTs a new file is striped over: -1 all, 0 none chosen here (files keep the layout that"
          + " their directory gives them).");

  ConfKey<Boolean> PROGRESSIVE = ConfKey.flag("vas.lustre.progressive", true,
      "Whether the first block of a new file has one object, and only what follows goes over"
          + " vas.lustre.stripe-count OSTs (a progressive layout). A file of one block then needs"
          + " one OST; with false it needs all of them, and so does whoever looks at it.");

  ConfKey<String> POOL = ConfKey.text("vas.lustre.pool", "",
      "The OST pool of new files; not set: any OST.");

  ConfKey<String> PRIVATE_PATHS = ConfKey.text("vas.lustre.private-paths",
      ".*/(_temporary/.*/attempt_[^/]*_r_[^/]*"
          + "|job_\\d+_\\d+/shuffle/attempt_\\d+_\\d+_[mr]_\\d+_\\d+)/.*",
      "Files whose path matches this regular expression get one stripe on an OST of the host"
          + " this VM runs on. The default is what reduce attempts write before commit, and the"
          + " map output of vas.shuffle. What map attempts commit is left out: it is the next job's"
          + " input and belongs on all OSTs. Empty: no file is private.");

  ConfKey<String> DOM_PATHS = ConfKey.text("vas.lustre.dom-paths", "",
      "New files whose path matches this regular expression have their first bytes on their MDT"
          + " (Data-on-MDT), the rest as other files. Empty: none. For the manifests of vas.shuffle"
          + " write .*/shuffle/attempt_[^/]*/manifest[^/]* where the MDTs have room to spare. A"
          + " file for which Lustre refuses that, or gives less, is made without, with a warning.");

  ConfKey<Long> DOM_SIZE = ConfKey.bytes("vas.lustre.dom-size", "64k", "64k", "1g",
      "Bytes of a file of vas.lustre.dom-paths that lie on its MDT: a multiple of 64k, at most what"
          + " the MDTs take (lod.*.dom_stripesize, 1m as Lustre comes).");

  ConfKey<String> LINKS = ConfKey.text("vas.lustre.links", "guarded",
      "Which symbolic links are followed: guarded (none out of the mount, and of links of another"
          + " user only root's, those to that user's own files, and, to read, those to what"
          + " everybody may read) or all (as the kernel does; right where all users trust one"
          + " another, or no daemon of Hadoop has rights that users lack).");

  ConfKey<Integer> MDT_COUNT = ConfKey.integer("vas.lustre.mdt-count", 1, 1, 2000,
      "MDTs that a directory of vas.lustre.striped-dirs is spread over, by 'lfs mkdir -c'; 1:"
          + " directories are not striped.");

  ConfKey<String> STRIPED_DIRS = ConfKey.text("vas.lustre.striped-dirs", ".*/shuffle",
      "Directories whose path matches this regular expression are spread over vas.lustre.mdt-count"
          + " MDTs when they are made one at a time, as vas.shuffle makes its own: the directory of"
          + " each map attempt is then on one of them, with its files.");

  ConfKey<String> LAZY_PATHS = ConfKey.text("vas.lustre.lazy-paths",
      ".*/job_\\d+_\\d+/shuffle/attempt_\\d+_\\d+_[mr]_\\d+_\\d+/.*",
      "Files whose path matches this regular expression may be in this VM's memory only when"
          + " close() returns, and are written without a lock: one task attempt writes them and can"
          + " write them again. Every other file is on the OSTs' disks before close() returns,"
          + " hence before a committer renames it. The default is the map output and the merge"
          + " passes of vas.shuffle (see vas.shuffle.sync-data). With '.*' no file is synced or"
          + " locked: a guest that dies takes bytes of finished jobs with it, and two appenders"
          + " overwrite one another.");

  ConfKey<Boolean> ONE_WRITER = ConfKey.flag("vas.lustre.one-writer", false,
      "Whether the site makes sure that no file is appended to by two writers. Then append works"
          + " where the mount's locks hold on one machine (localflock) or nowhere (noflock), which"
          + " it refuses otherwise.");

  ConfKey<Boolean> LAYOUT_REQUIRED = ConfKey.flag("vas.layout.required", true,
      "Whether creating a file fails where the mount cannot set a layout (it is not Lustre).");

  ConfKey<Integer> LAYOUT_CACHE = ConfKey.integer("vas.layout.cache-size", 10000, 0, 1000000,
      "Layouts of files to remember in one process.");

  ConfKey<Duration> LAYOUT_TTL = ConfKey.duration("vas.layout.cache-ttl", "1m", "0s", "1d",
      "How long to remember a layout. Replacing a file and most changes are noticed at once, by inode and"
          + " ctime; this bounds what leaves the MDT's ctime as it was: the release of an archived file, and"
          + " writes by which a file of several components grows. Only locations are stale meanwhile.");

  ConfKey<String> LOCATIONS = ConfKey.text("vas.locations", "vm",
      "What a block's location is: vm (the VM of the storage server that serves its OST) or none"
          + " (localhost, as any shared file system without this plugin answers).");

  ConfKey<String> LOCAL_GUEST = ConfKey.text("vas.local.guest", "",
      "The YARN node name of this VM in the site description. Not set: $NM_HOST, which a"
          + " NodeManager gives its containers, else this machine's host name.");

  ConfKey<Boolean> LOCAL_COUNTER = ConfKey.flag("vas.local.counter", true,
      "Whether bytes from OSTs of this VM's own host are also counted under a scheme of their own,"
          + " lustre-local. Spark adds all schemes up, so its applications get false.");

  ConfKey<Long> BUFFER_SIZE = ConfKey.bytes("vas.lustre.buffer-size", "256k", "4k", "16m",
      "Bytes of a stream's buffer; a caller that asks for a larger one gets it.");
}
