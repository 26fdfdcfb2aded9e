import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.util.EnumSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.vas.filesystem.LustreFileSystem;

/** Makes the file system calls of a small job's map output, and prints what the OSTs were asked by then. */
public final class MapOutputRequests {
  private static final FsPermission FILE = new FsPermission((short) 0600);
  private static final FsPermission DIRECTORY = new FsPermission((short) 0700);
  private static final Path JOB = new Path("/job_1_0001");
  private static final Path ROOT = new Path(JOB, "shuffle");

  private final LustreFileSystem files;

  private MapOutputRequests(LustreFileSystem files) {
    this.files = files;
  }

  /** Takes the mount, the stand-in's page of counts, the number of maps and that of reducers. */
  public static void main(String[] arguments) throws IOException {
    Configuration conf = new Configuration();
    conf.set("vas.lustre.mount", arguments[0]);
    conf.set("vas.locations", "none");
    java.nio.file.Path board = java.nio.file.Path.of(arguments[1]);
    int maps = Integer.parseInt(arguments[2]);
    int reducers = Integer.parseInt(arguments[3]);
    try (LustreFileSystem files = new LustreFileSystem()) {
      files.initialize(URI.create("lustre:///"), conf);
      files.mkdirs(JOB);
      MapOutputRequests requests = new MapOutputRequests(files);
      for (int map = 0; map < maps; map++) {
        requests.publish(attempt(map));
      }
      tell("maps", board);
      for (int read = 0; read < maps * reducers; read++) {
        requests.read(attempt(read % maps));
      }
      tell("reducers", board);
      files.delete(JOB, true);
      tell("removed", board);
    }
  }

  private static Path attempt(int map) {
    return new Path(ROOT, String.format("attempt_1_0001_m_%06d_0", map));
  }

  private void publish(Path attempt) throws IOException {
    if (files.exists(attempt)) {
      throw new IOException(attempt + ": is there before it was made");
    }
    files.mkdirOwn(ROOT, DIRECTORY);
    files.mkdirOwn(attempt, DIRECTORY);
    create(new Path(attempt, "packed.mof")).close();
    try (FSDataOutputStream manifest = create(new Path(attempt, "manifest.tmp"))) {
      manifest.hsync();
    }
    files.rename(new Path(attempt, "manifest.tmp"), new Path(attempt, "manifest"));
  }

  private FSDataOutputStream create(Path file) throws IOException {
    FSDataOutputStream out = files.createNonRecursive(
        file, FILE, EnumSet.of(CreateFlag.CREATE), 4096, (short) 1, 128L << 20, null);
    out.write(new byte[1000]);
    return out;
  }

  private void read(Path attempt) throws IOException {
    try (FSDataInputStream manifest = files.openOwn(new Path(attempt, "manifest"), 3, 4096)) {
      manifest.read(0, new byte[4096], 0, 4096);
    }
    FileStatus output = new FileStatus(1000, false, 1, 1, 0, new Path(attempt, "packed.mof"));
    files.getFileBlockLocations(output, 0, 1);
    try (FSDataInputStream segments = files.openOwn(output.getPath(), 3, 4096)) {
      segments.readFully(0, new byte[1000]);
    }
  }

  private static void tell(String stage, java.nio.file.Path board) throws IOException {
    ByteBuffer counts = ByteBuffer.wrap(Files.readAllBytes(board)).order(ByteOrder.nativeOrder());
    System.out.println(stage + ": " + counts.getLong(8) + " glimpses, " + counts.getLong(16)
        + " syncs, " + counts.getLong(24) + " destroys");
  }
}
