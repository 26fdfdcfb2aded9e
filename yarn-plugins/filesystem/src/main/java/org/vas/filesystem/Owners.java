package org.vas.filesystem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.attribute.UserPrincipalNotFoundException;

/** The owners of files. */
final class Owners {
  private Owners() {}

  /** Changes user or group, or both; null leaves one as it is. */
  static void set(Path file, String user, String group) throws IOException {
    if (user == null && group == null) {
      throw new IllegalArgumentException(file + ": neither a user nor a group given");
    }
    UserPrincipalLookupService names = file.getFileSystem().getUserPrincipalLookupService();
    PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
    try {
      if (group != null) {
        view.setGroup(names.lookupPrincipalByGroupName(group));
      }
      if (user != null) {
        view.setOwner(names.lookupPrincipalByName(user));
      }
    } catch (UserPrincipalNotFoundException e) {
      throw new IOException(
          file + ": this machine knows no user or group '" + e.getName() + "'", e);
    }
  }
}
