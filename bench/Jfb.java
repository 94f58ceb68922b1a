import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import ru.ifmo.nds.JensenFortinBuzdalov;
import ru.ifmo.nds.NonDominatedSorting;

/** Times jfb: Jfb ROWS.f64 N OBJECTIVES RANKS.i32; prints seconds, warm. */
public final class Jfb {
    public static void main(String[] args) throws IOException {
        int n = Integer.parseInt(args[1]), h = Integer.parseInt(args[2]);
        double[][] points = new double[n][h];
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(Path.of(args[0]))).order(ByteOrder.LITTLE_ENDIAN);
        for (double[] point : points) {
            for (int i = 0; i < h; i++) {
                point[i] = bytes.getDouble();
            }
        }
        int[] ranks = new int[n];
        // So many runs first that the compiler of the virtual machine is done.
        double[] times = new double[15];
        try (NonDominatedSorting jfb =
                JensenFortinBuzdalov.getRedBlackTreeSweepHybridNDTImplementation(8, 1).getInstance(n, h)) {
            for (int run = -10; run < times.length; run++) {
                long start = System.nanoTime();
                jfb.sort(points, ranks);
                if (run >= 0) {
                    times[run] = (System.nanoTime() - start) / 1e9;
                }
            }
        }
        Arrays.sort(times);
        System.out.println(times[times.length / 2]);
        try (DataOutputStream out = new DataOutputStream(new FileOutputStream(args[3]))) {
            ByteBuffer all = ByteBuffer.allocate(4 * n);
            all.asIntBuffer().put(ranks);
            out.write(all.array());
        }
    }
}
